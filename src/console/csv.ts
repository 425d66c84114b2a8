/** The pets of a whole CSV text (RFC 4180), by the rules of `petstore pets import`. */

import type { NewPet } from '../pet.ts';
import {
  countLineFeeds,
  createLineError,
  findDelimiter,
  parseHeader,
  RowError,
  toCsvPetRow,
} from '../pet-file.ts';

export interface CsvPets {
  readonly pets: readonly NewPet[];
  /** Why the other rows are no pets, with their lines. */
  readonly errors: readonly RowError[];
}

interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** @throws RowError where a quote is wrong, so that the next row cannot be told, and for a wrong header. */
export function parseCsv(text: string): CsvPets {
  const [header, ...rows] = splitCsv(text, findDelimiter(text));
  const columns = parseHeader(header?.cells ?? []);
  const parsed = rows
    .filter(({ cells }) => cells.length > 1 || cells[0] !== '')
    .map(({ line, cells }) => toCsvPetRow(columns, line, cells));
  return {
    pets: parsed.filter((row): row is NewPet => !(row instanceof RowError)),
    errors: parsed.filter((row) => row instanceof RowError),
  };
}

/** The rows in their order, blank ones too. Only U+000A, or U+000D and U+000A, ends a row. */
function splitCsv(text: string, delimiter: string): CsvRow[] {
  const plain = `(?:[^${delimiter}"\\r\\n]|\\r(?!\\n))*`;
  const cell = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|(${plain}))(${delimiter}|\\r?\\n|$)`, 'y');
  const rows: CsvRow[] = [];
  let cells: string[] = [];
  for (let line = 1, lines = 0; ; ) {
    const match = cell.exec(text);
    if (match === null) {
      throw createLineError(
        line,
        'a cell with a quote in it must be quoted, and its quotes doubled',
      );
    }
    const [whole, quoted, unquoted = '', end] = match;
    cells.push(quoted?.replaceAll('""', '"') ?? unquoted);
    lines += countLineFeeds(whole);
    if (end === delimiter) continue;
    rows.push({ line, cells });
    if (end === '') return rows;
    cells = [];
    line += lines;
    lines = 0;
  }
}
