/** What every reader of a file of pets needs, on the command line and in a browser: errors that name a line, and the columns of CSV. */

import { PetstoreError } from './error.ts';
import { JsonNumber } from './json.ts';
import { NEW_PET_FIELDS, type NewPet, type NewPetField, parseNewPet } from './pet.ts';

/** Why a row is no pet; the message names the place of the row. */
export class RowError extends PetstoreError {}

export type PetRow = NewPet | RowError;

const DELIMITERS = [',', ';', '\t'];

/** An error of the row that starts at that line of the file; its message is a single line. */
export function createLineError(line: number, reason: string, options?: ErrorOptions): RowError {
  return createRowError(`line ${line}`, reason, options);
}

function createRowError(place: string, reason: string, options?: ErrorOptions): RowError {
  // JSON.parse's "(line 1 column 8)" counts from the start of the row, not of the file.
  const words = reason.replace(/ \(line \d+ column \d+\)$/, '').replace(/\p{Cc}+/gu, ' ');
  return new RowError('bad_request', `${place}: ${words}`, options);
}

/** The row at that place, such as "line 3", whose pet, or PetstoreError, comes from `parse`. */
export function toPetRow(place: string, parse: () => NewPet): PetRow {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof PetstoreError)) throw cause;
    return createRowError(place, cause.message, { cause });
  }
}

export function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** The delimiter that splits the first line of the text into the columns that a pet needs; a comma when none does. */
export function findDelimiter(text: string): string {
  const [header = ''] = text.split(/\r?\n/, 1);
  const needed = NEW_PET_FIELDS.filter(({ optional }) => !optional);
  const found = DELIMITERS.find((delimiter) => {
    const cells = header.replaceAll('"', '').split(delimiter);
    return needed.every(({ name }) => cells.includes(name));
  });
  return found ?? ',';
}

/** The number of columns, and the fields of a pet that have one, with its index. */
export interface Columns {
  readonly count: number;
  readonly fields: readonly (NewPetField & { readonly index: number })[];
}

/** @throws RowError when a column is missing or given twice. */
export function parseHeader(cells: readonly string[]): Columns {
  const seen = new Set<string>();
  for (const cell of cells) {
    // Spreadsheets may add columns without a name.
    if (cell !== '' && seen.has(cell))
      throw createLineError(1, `the column "${cell}" is given twice`);
    seen.add(cell);
  }
  for (const { name, optional } of NEW_PET_FIELDS) {
    if (!optional && !seen.has(name)) {
      throw createLineError(1, `the header must have the column "${name}"`);
    }
  }
  const fields = NEW_PET_FIELDS.filter(({ name }) => seen.has(name)).map((field) => ({
    ...field,
    index: cells.indexOf(field.name),
  }));
  return { count: cells.length, fields };
}

/** The row that starts at that line; an empty cell of an optional field is an absent one. */
export function toCsvPetRow(
  { count, fields }: Columns,
  line: number,
  cells: readonly string[],
): PetRow {
  if (cells.length !== count) {
    return createLineError(line, `must have ${count} cells, as the header, not ${cells.length}`);
  }
  const members = fields.map(({ name, kind, optional, index }) => {
    const cell = cells[index] ?? '';
    if (optional && cell === '') return [name, undefined];
    return [name, kind === 'int64' ? new JsonNumber(cell) : cell];
  });
  return toPetRow(`line ${line}`, () => parseNewPet(Object.fromEntries(members)));
}
