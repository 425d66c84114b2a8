/** The opaque `cursor` of the next page: the id of the last pet of a page, in base64url. */

import { PetstoreError } from '../error.ts';

/** 64 bits in base64url are 11 characters; the sign bit and the two bits left over are 0. */
export const CURSOR_CHARACTERS = 11;
export const CURSOR_PATTERN = '^[A-Za-f][A-Za-z0-9_-]{9}[AEIMQUYcgkosw048]$';

const CURSOR = new RegExp(CURSOR_PATTERN);

/** The cursor of the page after the pet with this id. */
export function createCursor(after: bigint): string {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64BE(after);
  return bytes.toString('base64url');
}

/**
 * The id in a cursor.
 *
 * @throws PetstoreError `bad_request` for any text that {@link createCursor} does not make.
 */
export function parseCursor(cursor: string): bigint {
  if (CURSOR.test(cursor)) return Buffer.from(cursor, 'base64url').readBigInt64BE();
  throw new PetstoreError(
    'bad_request',
    'cursor must be the unchanged cursor of a Link of this service',
  );
}
