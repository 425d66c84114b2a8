/** The text of a pet file, and the errors of files. */

import { createReadStream } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { PetstoreError } from '../../error.ts';

const STANDARD_INPUT = '-';

export type OnRead = (bytes: number) => void;

/**
 * The file's text in pieces, without a byte order mark.
 *
 * @throws PetstoreError `bad_request` when the file cannot be read, or is not UTF-8.
 */
export async function* readText(file: string, onRead?: OnRead): AsyncGenerator<string> {
  const name = file === STANDARD_INPUT ? 'standard input' : file;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    const chunks: AsyncIterable<Buffer> =
      file === STANDARD_INPUT ? process.stdin : createReadStream(file);
    for await (const chunk of chunks) {
      onRead?.(chunk.length);
      yield decoder.decode(chunk, { stream: true });
    }
    yield decoder.decode();
  } catch (cause) {
    if (!isDecodingError(cause)) throw toFileError(cause, `${name} cannot be read`);
    throw new PetstoreError('bad_request', `${name} is not valid UTF-8`, { cause });
  }
}

function isDecodingError(cause: unknown): boolean {
  return (
    cause instanceof Error && 'code' in cause && cause.code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
  );
}

/** A failure of the file system as a PetstoreError; any other failure as it is. */
export function toFileError(cause: unknown, what: string): unknown {
  if (!(cause instanceof Error && 'errno' in cause && typeof cause.errno === 'number')) {
    return cause;
  }
  const reason = getSystemErrorMessage(cause.errno);
  return new PetstoreError('bad_request', `${what}: ${reason}`, { cause });
}
