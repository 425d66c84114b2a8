/** Reads files of pets: their text, NDJSON row by row, and a JSON array, which is read whole. Refuses wrong rows. */

import { createReadStream } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { PetstoreError } from '../../error.ts';
import { parseJson } from '../../json.ts';
import { MIB } from '../../limit.ts';
import { type PetRow, parseRow, RowError, readJsonRows, splitRows } from '../../rows.ts';
import type { Progress } from '../output.ts';

const STANDARD_INPUT = '-';
/** The import of a file of 64 MiB takes 0.8 to 1.1 GB of memory. */
const JSON_MIB_MAX = 64;
/** 64 MiB of pets have fewer values. A file of 33 million numbers took 3 GB, and 9 minutes. */
const FILE_VALUES_MAX = 5_000_000;
/** How many wrong rows of a file are shown. The others are counted. */
const WRONG_ROWS_MAX = 20;

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

/**
 * The pets before the first wrong row. The rows after it are only checked.
 *
 * @throws RowError for a single wrong row. PetstoreError `bad_request` with the number of several wrong rows, which
 *   are shown, or if the file cannot be read.
 */
export async function* refuseWrong<Parsed>(
  rows: AsyncIterable<PetRow>,
  parse: (value: unknown, place: string) => Parsed,
  progress: Progress,
): AsyncGenerator<Parsed> {
  const shown: RowError[] = [];
  let wrong = 0;
  const refuse = (row: RowError) => {
    if (wrong < WRONG_ROWS_MAX) shown.push(row);
    wrong += 1;
  };
  try {
    for await (const row of rows) {
      const pet = parseRow(row, parse);
      progress.pets += 1;
      if (pet instanceof RowError) refuse(pet);
      progress.show(wrong === 0 ? 'imported' : 'checked');
      if (wrong === 0 && !(pet instanceof RowError)) yield pet;
    }
  } catch (cause) {
    if (!(cause instanceof RowError)) throw cause;
    refuse(cause);
  }
  if (wrong === 0) {
    // The database takes seconds to commit a million pets.
    progress.part = undefined;
    progress.show('committing');
    return;
  }
  const [first] = shown;
  if (first !== undefined && wrong === 1) throw first;
  for (const { message } of shown) progress.say(message);
  if (wrong > shown.length) progress.say(`and ${wrong - shown.length} more`);
  throw new PetstoreError('bad_request', `${wrong} rows are wrong`);
}
