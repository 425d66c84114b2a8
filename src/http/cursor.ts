/** The cursor of a page: the id of the last pet of the page before, and a checksum, in base64url. */

import { crc32 } from 'node:zlib';
import { badRequest } from '../error.ts';

const ID_BYTES = 8;
const BYTES = ID_BYTES + 4;

/** 12 bytes are 16 characters, without padding. */
export const CURSOR_SCHEMA = { type: 'string', maxLength: 16, pattern: '^[A-Za-z0-9_-]{16}$' };

/** Also the cursors of 1.0.0, which have no checksum. */
const FORM = /^[\w-]{11,16}$/;

export function createCursor(after: bigint): string {
  return encode(after).toString('base64url');
}

/** The checksum refuses what a tool makes up from the pattern: it would get an empty page. */
export function parseCursor(value: string | undefined): bigint | undefined {
  if (value === undefined) return undefined;
  const after = FORM.test(value) ? Buffer.from(value, 'base64url').readBigInt64BE() : -1n;
  const bytes = encode(after);
  const spellings = [bytes, bytes.subarray(0, ID_BYTES)].map((each) => each.toString('base64url'));
  if (after >= 0n && spellings.includes(value)) return after;
  throw badRequest('cursor must be the unchanged cursor of a Link');
}

function encode(after: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(BYTES);
  bytes.writeBigInt64BE(after);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, ID_BYTES)), ID_BYTES);
  return bytes;
}
