/** Pets from NDJSON, row by row, and from a JSON array, which is read whole. */

import { PetstoreError } from '../../error.ts';
import { parseJson } from '../../json.ts';
import { MIB } from '../../limit.ts';
import { type PetRow, readJsonRows, splitRows } from '../../rows.ts';

/** The import of a file of 64 MiB takes 0.8 to 1.1 GB of memory. */
const JSON_MIB_MAX = 64;
/** 64 MiB of pets have fewer values. A file of 33 million numbers took 3 GB, and 9 minutes. */
const FILE_VALUES_MAX = 5_000_000;

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
