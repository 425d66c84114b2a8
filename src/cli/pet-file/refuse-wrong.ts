/** Refuses a file of pets that has wrong rows, and shows the first of these rows. */

import { PetstoreError } from '../../error.ts';
import { type PetRow, parseRow, RowError } from '../../rows.ts';
import type { Progress } from '../progress.ts';

/** How many wrong rows of a file are shown. The others are counted. */
const WRONG_ROWS_MAX = 20;

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
