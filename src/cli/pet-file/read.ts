/** Reads files of pets: their text, NDJSON row by row, and a JSON array, which is read whole. */

import { createReadStream } from 'node:fs';
import { PetstoreError } from '../../error.ts';
import { parseJson } from '../../json.ts';
import { MIB } from '../../limit.ts';
import { type PetRow, readJsonRows, splitRows } from '../../rows.ts';

const STANDARD_INPUT = '-';
/** The import of a file of 64 MiB takes 0.8 to 1.1 GB of memory. */
const JSON_MIB_MAX = 64;
/** 64 MiB of pets have fewer values. A file of 33 million numbers took 3 GB, and 9 minutes. */
const FILE_VALUES_MAX = 5_000_000;

/**
 * The text of the file in pieces, without a byte order mark.
 *
 * @throws PetstoreError `bad_request` if the file cannot be read, or is not UTF-8.
 */
export async function* readText(file: string): AsyncGenerator<string> {
  const name = file === STANDARD_INPUT ? 'standard input' : file;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    const chunks: AsyncIterable<Buffer> =
      file === STANDARD_INPUT ? process.stdin : createReadStream(file);
    for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const isWrong = code === 'ERR_ENCODING_INVALID_ENCODED_DATA';
    const what = isWrong ? 'is not valid UTF-8' : `cannot be read: ${message}`;
    throw new PetstoreError('bad_request', `${name} ${what}`, { cause });
  }
}

export async function* readNdjson(pieces: AsyncIterable<string>): AsyncGenerator<PetRow> {
  for await (const { place, text } of splitRows(pieces, false)) {
    yield { place, read: () => parseJson(text) };
  }
}

/**
 * The pets of a JSON array. The whole file is parsed at once.
 *
 * @throws PetstoreError `bad_request` for a file that is too large, or is not a JSON array.
 */
export async function* readJsonArray(pieces: AsyncIterable<string>): AsyncGenerator<PetRow> {
  let bytes = 0;
  let text = '';
  for await (const piece of pieces) {
    bytes += Buffer.byteLength(piece);
    if (bytes > JSON_MIB_MAX * MIB) {
      const reason = `a JSON file may have at most ${JSON_MIB_MAX} MiB: use NDJSON for more pets`;
      throw new PetstoreError('bad_request', reason);
    }
    text += piece;
  }
  yield* readJsonRows(text, FILE_VALUES_MAX);
}
