/** Pets from NDJSON, row by row, and from a JSON array, which is read whole. */

import { PetstoreError } from '../../error.ts';
import { parseJson } from '../../json.ts';
import { parseNewPet } from '../../pet.ts';
import { type PetRow, toPetRow } from '../../pet-file.ts';
import { createLongRowError, ROW_BYTES_MAX } from './text.ts';

const NOT_BLANK = /[^ \t\r]/;

/** The import of such a file takes 0.8 to 1.1 GB of memory. */
const JSON_MIB_MAX = 64;
/** More than that many MiB of pets have; so many numbers would take all memory. */
const JSON_VALUES_MAX = 5_000_000;

/** The pets of NDJSON. Only U+000A ends a line: a JSON string may contain U+2028 and U+2029. */
export async function* readNdjson(chunks: AsyncIterable<Buffer>): AsyncGenerator<PetRow> {
  let line = 1;
  let rest = '';
  for await (const chunk of chunks) {
    const text = rest + chunk.toString();
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const row = text.slice(start, end);
      if (NOT_BLANK.test(row)) yield parseRow(line, row);
      line += 1;
      start = end + 1;
    }
    rest = text.slice(start);
    if (rest.length > ROW_BYTES_MAX) throw createLongRowError(line);
  }
  if (NOT_BLANK.test(rest)) yield parseRow(line, rest);
}

/**
 * The pets in the one array that the file consists of. The whole file is parsed at once.
 *
 * @throws PetstoreError `bad_request` for a file that is too large or no JSON array.
 */
export async function* readJsonArray(chunks: AsyncIterable<Buffer>): AsyncGenerator<PetRow> {
  let bytes = 0;
  let text = '';
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > JSON_MIB_MAX * 1024 * 1024) {
      const reason = `a JSON file may have at most ${JSON_MIB_MAX} MiB; use NDJSON for more pets`;
      throw new PetstoreError('bad_request', reason);
    }
    text += chunk.toString();
  }
  const values = parseJson(text, JSON_VALUES_MAX);
  if (!Array.isArray(values)) {
    throw new PetstoreError('bad_request', 'the file must be a JSON array');
  }
  for (const [index, value] of values.entries()) {
    yield toPetRow(`pet ${index + 1}`, () => parseNewPet(value));
  }
}

function parseRow(line: number, row: string): PetRow {
  if (Buffer.byteLength(row) > ROW_BYTES_MAX) throw createLongRowError(line);
  return toPetRow(`line ${line}`, () => parseNewPet(parseJson(row)));
}
