/** Pets from CSV (RFC 4180) of people, spreadsheets and databases. */

import { type Column, CSV_COLUMNS, MARK } from './csv-format.ts';
import { cut, PetstoreError } from './error.ts';
import { findNearest } from './nearest.ts';
import { toFieldValue } from './pet-field.ts';
import { createRowError, type PetRow, type Pieces, splitRows } from './rows.ts';

const COLUMN_NAMES = CSV_COLUMNS.map(({ name }) => name);
const NO_HEADER = `the header must name the columns: ${COLUMN_NAMES.join(', ')}`;

/** The first row may name the separator, or be PowerShell's. */
const BEFORE_HEADER = /^"?sep=([,;|\t])"?$|^"?#TYPE /i;

/** The columns of a file. Undefined for a column of no field. */
type Header = readonly ((Column & { readonly isMarked: boolean }) | undefined)[];

/**
 * The rows below the header, without blank rows.
 *
 * @param ignoresColumns whether the file may have columns that no pet has.
 * @throws PetstoreError `bad_request` for a wrong header or quote, and if there is no row.
 */
export async function* readCsv(pieces: Pieces, ignoresColumns = false): AsyncGenerator<PetRow> {
  let pattern: RegExp | undefined;
  let header: Header | undefined;
  let isEmpty = true;
  for await (const { place, text } of splitRows(pieces, true)) {
    const before = header === undefined ? BEFORE_HEADER.exec(text) : null;
    if (before !== null) {
      if (before[1] !== undefined) pattern = createCellPattern(before[1]);
      continue;
    }
    pattern ??= createCellPattern(/[,;|\t]/.exec(text)?.[0] ?? ',');
    const cells = splitCells(place, text, pattern);
    if (cells.every((cell) => cell.trim() === '')) continue;
    if (header === undefined) {
      header = parseHeader(place, cells, ignoresColumns);
      continue;
    }
    isEmpty = false;
    yield { place, read: readMembers.bind(undefined, cells, header, ignoresColumns) };
  }
  if (header === undefined) throw createRowError('line 1', NO_HEADER);
  if (isEmpty) throw new PetstoreError('bad_request', 'the file has no row below its header');
}

/** Matches a cell, quoted or plain, and the delimiter behind it; behind the last cell it is empty. */
function createCellPattern(delimiter: string): RegExp {
  return new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^${delimiter}"]*))([${delimiter}]|$)`, 'gy');
}

function splitCells(place: string, row: string, pattern: RegExp): string[] {
  const cells: string[] = [];
  for (const [, quoted, plain = '', delimiter] of row.matchAll(pattern)) {
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    if (delimiter === '') return cells;
  }
  throw createRowError(place, 'a cell with a quote in it must be quoted, and its quotes doubled');
}

/** @throws PetstoreError `bad_request` when a column is unknown, is missing, or is given twice. */
function parseHeader(place: string, cells: readonly string[], ignoresColumns: boolean): Header {
  const columns = cells.map(findColumn);
  if (!columns.some(Boolean)) throw createRowError(place, NO_HEADER);
  const unknown = cells.find((cell, index) => cell.trim() !== '' && !columns[index]);
  if (unknown !== undefined && !ignoresColumns) {
    // The search takes time by the length of the text.
    const shown = cut(unknown);
    const hint = `(did you mean "${findNearest(shown, COLUMN_NAMES)}"?)`;
    throw createRowError(place, `column "${shown}" is not a field of a pet ${hint}`);
  }
  for (const column of CSV_COLUMNS) {
    const { name, optional } = column;
    const count = columns.filter((other) => other === column).length;
    if (count > 1) throw createRowError(place, `the column "${name}" is given twice`);
    if (count === 0 && !optional) {
      throw createRowError(place, `the header must have the column "${name}"`);
    }
  }
  return columns.map((column, index) => {
    return column && { ...column, isMarked: cells[index]?.trim().startsWith(MARK) ?? false };
  });
}

/** The column by its name or its label, in any spelling, such as `Category ID` and `category_id`. */
function findColumn(text: string): Column | undefined {
  const key = toKey(text.trim());
  return CSV_COLUMNS.find(({ name, label }) => key === toKey(name) || key === toKey(label));
}

function toKey(text: string): string {
  return text.replace(/^'|[\s_-]/g, '').toLowerCase();
}

/** The value of a row for a parser of pets. An empty cell of an optional field means that the field is absent. */
function readMembers(cells: readonly string[], header: Header, ignoresColumns: boolean): unknown {
  if (cells.length !== header.length) {
    const reason = `must have ${header.length} cells like the header, not ${cells.length}`;
    throw new PetstoreError('bad_request', reason);
  }
  const members: Record<string, unknown> = {};
  for (const [index, column] of header.entries()) {
    const cell = cells[index] ?? '';
    if (column) {
      const text = readCell(cell, column.isFree, column.isMarked);
      if (text !== '' || !column.optional) members[column.name] = toFieldValue(column, text);
    } else if (!ignoresColumns && cell.trim() !== '') {
      const reason = `the cell "${cut(cell)}" is in a column without a name`;
      throw new PetstoreError('bad_request', reason);
    }
  }
  return members;
}

/** The text of a cell, without the mark. A free text is kept with its blanks. */
function readCell(cell: string, isFree: boolean, isMarked: boolean): string {
  if (!isFree) return cell.trim().replace(/^'(?=-?\d)/, '');
  return isMarked && cell.startsWith(MARK) ? cell.slice(MARK.length) : cell;
}
