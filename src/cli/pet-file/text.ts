/** The bytes of an animal file: checked UTF-8, and refusals that name a line; not what a row is. */

import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { PetstoreError } from '../../error.ts';

/** The longest row, which bounds the memory that a file without an end of a row can take. */
export const ROW_BYTES_MAX = 65_536;

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
const LINE_FEED = 0x0a;

/**
 * The file's bytes in pieces of whole characters, without a byte order mark.
 *
 * @param onRead is told how many bytes each read gave.
 * @throws PetstoreError `bad_request` when the file cannot be read, or is not UTF-8.
 */
export async function* readUtf8(
  file: string,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let line = 1;
  let atStart = true;
  for await (const bytes of readWholeCharacters(file, onRead)) {
    const valid = validLines(bytes);
    const text = bytes.subarray(0, valid);
    yield atStart && text.subarray(0, 3).equals(BYTE_ORDER_MARK) ? text.subarray(3) : text;
    line += countLineFeeds(text.toString('latin1'));
    if (valid < bytes.length) throw refuseLine(line, 'not valid UTF-8');
    atStart = false;
  }
}

async function* readWholeCharacters(
  file: string,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  try {
    const chunks: AsyncIterable<Buffer> = createReadStream(file);
    for await (const chunk of chunks) {
      onRead(chunk.length);
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = lastCharacter(bytes);
      rest = bytes.subarray(end);
      if (end > 0) yield bytes.subarray(0, end);
    }
  } catch (cause) {
    throw describeFileError(cause, `${file} cannot be read`);
  }
  if (rest.length > 0) yield rest;
}

/** Where the last character begins when it has several bytes, for its rest may come later; else the end. */
function lastCharacter(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 3 && (bytes.readUInt8(end - 1) & 0xc0) === 0x80) end -= 1;
  return end > 0 && bytes.readUInt8(end - 1) >= 0xc0 ? end - 1 : end;
}

/** The length of all bytes when they are UTF-8, else of the whole lines before the first that is not. */
function validLines(bytes: Buffer): number {
  if (isUtf8(bytes)) return bytes.length;
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return start;
    start = end + 1;
  }
}

export function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** The refusal of the row that starts at that line of the file; its message is always one line. */
export function refuseLine(line: number, reason: string, options?: ErrorOptions): PetstoreError {
  // The parser's own "(line 1 column 8)" counts from the row's start, not from the file's.
  const words = reason.replace(/ \(line \d+ column \d+\)$/, '').replace(/\p{Cc}+/gu, ' ');
  return new PetstoreError('bad_request', `line ${line}: ${words}`, options);
}

export function refuseLongRow(line: number): PetstoreError {
  return refuseLine(
    line,
    `longer than ${ROW_BYTES_MAX} bytes; is a quote, a bracket or the end of a line missing?`,
  );
}

/** What `parse` gives; when it refuses, the refusal names the line. */
export function parseAtLine<T>(line: number, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw cause instanceof PetstoreError ? refuseLine(line, cause.message, { cause }) : cause;
  }
}

/** A failure of the file system as a PetstoreError; any other failure as it is. */
export function describeFileError(cause: unknown, what: string): unknown {
  if (!(cause instanceof Error && 'errno' in cause && typeof cause.errno === 'number')) {
    return cause;
  }
  const reason = getSystemErrorMessage(cause.errno);
  return new PetstoreError('bad_request', `${what}: ${reason}`, { cause });
}
