/** The text of a file of pets, and the errors of the file system. */

import { createReadStream } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { PetstoreError } from '../../error.ts';

const STANDARD_INPUT = '-';

export type OnRead = (bytes: number) => void;

/**
 * The text of the file in pieces, without a byte order mark.
 *
 * @throws PetstoreError `bad_request` if the file cannot be read, or is not UTF-8.
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
    if ((cause as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
      throw new PetstoreError('bad_request', `${name} is not valid UTF-8`, { cause });
    }
    throw toFileError(cause, `${name} cannot be read`);
  }
}

/** A failure of the file system as a PetstoreError; any other failure as it is. */
export function toFileError(cause: unknown, what: string): unknown {
  const { errno } = cause as NodeJS.ErrnoException;
  if (errno === undefined) return cause;
  return new PetstoreError('bad_request', `${what}: ${getSystemErrorMessage(errno)}`, { cause });
}
