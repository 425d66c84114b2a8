/** The bytes of a pet file: UTF-8 that is checked. */

import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { PetstoreError } from '../../error.ts';
import { createLineError } from '../../rows.ts';

/** The file that is standard input. */
const STANDARD_INPUT = '-';

const BYTE_ORDER_MARK = '\uFEFF';
const LINE_FEED = 0x0a;

/**
 * The file's text in pieces, without a byte order mark.
 *
 * @param onRead called with the number of bytes of each read.
 * @throws PetstoreError `bad_request` when the file cannot be read, or is not UTF-8.
 */
export async function* readUtf8(
  file: string,
  onRead: (bytes: number) => void,
): AsyncGenerator<string> {
  let line = 1;
  let atStart = true;
  for await (const bytes of readWholeCharacters(file, onRead)) {
    const valid = countValidBytes(bytes);
    const text = bytes.toString('utf8', 0, valid);
    yield atStart && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
    line += text.split('\n').length - 1;
    if (valid < bytes.length) throw createLineError(line, 'not valid UTF-8');
    atStart = false;
  }
}

async function* readWholeCharacters(
  file: string,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  try {
    const chunks: AsyncIterable<Buffer> =
      file === STANDARD_INPUT ? process.stdin : createReadStream(file);
    for await (const chunk of chunks) {
      onRead(chunk.length);
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = countWholeBytes(bytes);
      rest = bytes.subarray(end);
      if (end > 0) yield bytes.subarray(0, end);
    }
  } catch (cause) {
    const name = file === STANDARD_INPUT ? 'standard input' : file;
    throw toFileError(cause, `${name} cannot be read`);
  }
  if (rest.length > 0) yield rest;
}

/** The length without a last character of several bytes, of which the next chunk may have the rest. */
function countWholeBytes(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 3 && (bytes.readUInt8(end - 1) & 0xc0) === 0x80) end -= 1;
  return end > 0 && bytes.readUInt8(end - 1) >= 0xc0 ? end - 1 : end;
}

/** The length of all bytes when they are UTF-8, else of the lines before the first that is not. */
function countValidBytes(bytes: Buffer): number {
  if (isUtf8(bytes)) return bytes.length;
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return start;
    start = end + 1;
  }
}

/** A failure of the file system as a PetstoreError; any other failure as it is. */
export function toFileError(cause: unknown, what: string): unknown {
  if (!(cause instanceof Error && 'errno' in cause && typeof cause.errno === 'number')) {
    return cause;
  }
  const reason = getSystemErrorMessage(cause.errno);
  return new PetstoreError('bad_request', `${what}: ${reason}`, { cause });
}
