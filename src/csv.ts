/** Pets from CSV (RFC 4180), and to CSV. */

import { JsonNumber } from './json.ts';
import { NEW_PET_FIELDS, type Pet } from './pet.ts';
import { createLineError, type ParseRow, type PetRow, splitRows, toPetRow } from './rows.ts';

const DELIMITERS = [',', ';', '\t'];
const NEEDS_QUOTES = /[",\r\n]|^ | $/;

/** A column that may be absent is optional. */
const COLUMNS = [{ name: 'id', kind: 'int64', optional: true } as const, ...NEW_PET_FIELDS];
type Column = (typeof COLUMNS)[number];

export const CSV_HEADER = `${COLUMNS.map(({ name }) => name)}\n`;

/** The pet as a row below CSV_HEADER, which reads back exactly; an absent field is an empty cell. */
export function toCsvRow(pet: Pet): string {
  return `${COLUMNS.map(({ name }) => quoteCell(String(pet[name] ?? '')))}\n`;
}

function quoteCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * The pets in the rows below the header; blank rows are left out.
 *
 * @throws RowError for a wrong header, and at a wrong quote, behind which no row can be told.
 */
export async function* readCsv<Parsed>(
  pieces: AsyncIterable<string> | Iterable<string>,
  parse: ParseRow<Parsed>,
): AsyncGenerator<PetRow<Parsed>> {
  let cell: RegExp | undefined;
  let columns: Columns | undefined;
  for await (const { line, text } of splitRows(pieces, true)) {
    const row = text.replace(/\r$/, '');
    cell ??= createCellPattern(findDelimiter(row));
    const cells = splitCells(line, row, cell);
    if (columns === undefined) columns = parseHeader(line, cells.map(toFieldName));
    else yield toCsvPetRow(columns, line, cells, parse);
  }
  if (columns === undefined) parseHeader(1, []);
}

/** The delimiter that splits the header into the columns that a pet needs; a comma when none does. */
function findDelimiter(header: string): string {
  const needed = COLUMNS.filter(({ optional }) => !optional);
  const found = DELIMITERS.find((delimiter) => {
    const cells = header.replaceAll('"', '').split(delimiter).map(toFieldName);
    return needed.every(({ name }) => cells.includes(name));
  });
  return found ?? ',';
}

/** The field that a column of the header names in any case; the name of another column as it is. */
function toFieldName(cell: string): string {
  const isSame = ({ name }: Column) => name.toLowerCase() === cell.toLowerCase();
  return COLUMNS.find(isSame)?.name ?? cell;
}

/** Matches a cell, quoted or plain, and the delimiter behind it, which is empty behind the last cell. */
function createCellPattern(delimiter: string): RegExp {
  return new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^${delimiter}"]*))(${delimiter}|$)`, 'gy');
}

function splitCells(line: number, row: string, pattern: RegExp): string[] {
  const cells: string[] = [];
  for (const [, quoted, plain = '', delimiter] of row.matchAll(pattern)) {
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    if (delimiter === '') return cells;
  }
  throw createLineError(line, 'a cell with a quote in it must be quoted, and its quotes doubled');
}

/** The number of columns, and the fields of a pet that have one, with its index. */
interface Columns {
  readonly count: number;
  readonly fields: readonly (Column & { readonly index: number })[];
}

/** @throws RowError when a column is missing or given twice. */
function parseHeader(line: number, cells: readonly string[]): Columns {
  const seen = new Set<string>();
  for (const cell of cells) {
    // Spreadsheets may add columns without a name.
    if (cell !== '' && seen.has(cell))
      throw createLineError(line, `the column "${cell}" is given twice`);
    seen.add(cell);
  }
  const missing = COLUMNS.find(({ name, optional }) => !optional && !seen.has(name));
  if (missing) throw createLineError(line, `the header must have the column "${missing.name}"`);
  const fields = COLUMNS.filter(({ name }) => seen.has(name)).map((field) => ({
    ...field,
    index: cells.indexOf(field.name),
  }));
  return { count: cells.length, fields };
}

/** The row that starts at that line; an empty cell of an optional field is an absent one. */
function toCsvPetRow<Parsed>(
  { count, fields }: Columns,
  line: number,
  cells: readonly string[],
  parse: ParseRow<Parsed>,
): PetRow<Parsed> {
  if (cells.length !== count) {
    return createLineError(line, `must have ${count} cells, as the header, not ${cells.length}`);
  }
  const members = fields.map(({ name, kind, optional, index }) => {
    const cell = cells[index] ?? '';
    if (optional && cell === '') return [name, undefined];
    return [name, kind === 'int64' ? new JsonNumber(cell) : cell];
  });
  return toPetRow(`line ${line}`, (place) => parse(Object.fromEntries(members), place));
}
