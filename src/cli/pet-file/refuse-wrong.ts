/** Refuses a file of pets for its wrong rows, of which the first ones are shown. */

import { PetstoreError } from '../../error.ts';
import { type PetRow, parseRow, RowError } from '../../rows.ts';
import { toOneLine } from '../output.ts';
import type { Progress, ProgressStream } from '../progress.ts';

/** The wrong rows of a file that are shown; the others are counted. */
const WRONG_ROWS_MAX = 20;

/**
 * The pets, up to the first wrong row: from there the rows are read for the other wrong ones alone.
 *
 * @throws PetstoreError for a single wrong row its own; of several, which are shown, their number; when
 *   the file cannot be read to its end, why.
 */
export async function* refuseWrong<Parsed>(
  rows: AsyncIterable<PetRow>,
  parse: (value: unknown, place: string) => Parsed,
  progress: Progress,
  stderr: ProgressStream,
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
    // The database takes its time for many.
    progress.part = undefined;
    progress.show('committing');
    return;
  }
  const [first] = shown;
  if (first !== undefined && wrong === 1) throw first;
  progress.clear();
  for (const { message } of shown) stderr.write(`${toOneLine(message)}\n`);
  if (wrong > shown.length) stderr.write(`and ${wrong - shown.length} more\n`);
  throw new PetstoreError('bad_request', `${wrong} rows are wrong`);
}
