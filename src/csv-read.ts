/** Pets from CSV (RFC 4180) of people, spreadsheets and databases. */

import { type Column, CSV_COLUMNS, MARK } from './csv-write.ts';
import { badRequest, cut, PetstoreError } from './error.ts';
import { findNearest } from './nearest.ts';
import { toFieldValue } from './pet-field.ts';
import { createRowError, type FileRow, type Pieces, splitRows } from './rows.ts';

const COLUMN_NAMES = CSV_COLUMNS.map(({ name }) => name);
const NO_HEADER = `the header must name the columns: ${COLUMN_NAMES.join(', ')}`;

/** The first row may name the separator, or be PowerShell's. */
const BEFORE_HEADER = /^"?sep=([,;|\t])"?$|^"?#TYPE /i;

/** The columns of a file. Undefined for a column of no field. */
type HeaderColumn = Column & { readonly index: number; readonly isMarked: boolean };
type Header = readonly (HeaderColumn | undefined)[];

/** A file has columns that no pet has. Their names are as in the file. */
export class UnknownColumnsError extends PetstoreError {
  readonly columns: readonly string[];

  constructor(place: string, columns: readonly string[]) {
    const shown = columns.find(findNear) ?? columns[0] ?? '';
    const near = findNear(shown);
    const help = near ? `did you mean "${near}"?` : '--ignore-columns leaves it out';
    const reason = `column "${cut(shown)}" is not a field of a pet (${help})`;
    super('bad_request', createRowError(place, reason).message);
    this.columns = columns;
  }
}

/**
 * The rows below the header, without blank rows. An empty cell of an optional field is null.
 *
 * @param ignoresColumns whether the file may have columns that no pet has.
 * @param isUpdate whether it is refused that all texts of a column have a mark, but not its name.
 * @throws PetstoreError `bad_request` for a wrong header or quote, and if there is no row.
 */
export async function* readCsv(
  pieces: Pieces,
  ignoresColumns = false,
  isUpdate = false,
): AsyncGenerator<FileRow> {
  let pattern: RegExp | undefined;
  let header: Header | undefined;
  let marked: Header = [];
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
      marked = header.filter((column) => column?.isFree && !column.isMarked);
      continue;
    }
    isEmpty = false;
    marked = marked.filter((column) => column && cells[column.index]?.startsWith(MARK));
    yield { place, read: readMembers.bind(undefined, cells, header, ignoresColumns) };
  }
  if (header === undefined) throw createRowError('line 1', NO_HEADER);
  if (isEmpty) throw badRequest('the file has no row below its header');
  if (isUpdate && marked[0]) {
    const { name } = marked[0];
    const remedy = `name the column '${name} if a spreadsheet put it there, or else import NDJSON`;
    throw badRequest(`every ${name} begins with ': ${remedy}`);
  }
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

function parseHeader(place: string, cells: readonly string[], ignoresColumns: boolean): Header {
  const columns = cells.map(findColumn);
  if (!columns.some(Boolean)) throw createRowError(place, NO_HEADER);
  const unknown = cells.filter((cell, index) => cell.trim() !== '' && !columns[index]);
  if (unknown.length > 0 && !ignoresColumns) throw new UnknownColumnsError(place, unknown);
  for (const column of CSV_COLUMNS) {
    const { name, optional } = column;
    const count = columns.filter((other) => other === column).length;
    if (count > 1) throw createRowError(place, `the column "${name}" is given twice`);
    if (count === 0 && !optional) {
      throw createRowError(place, `the header must have the column "${name}"`);
    }
  }
  return columns.map((column, index) => {
    return column && { ...column, index, isMarked: /^\s*'/.test(cells[index] ?? '') };
  });
}

/** The column that is mistyped so. An `x` is no `id`, though it takes only two edits. */
function findNear(text: string): string | undefined {
  // The search takes time by the length of the text.
  const key = toKey(cut(text.trim()));
  return findNearest(key, COLUMN_NAMES, Math.min(2, key.length - 1));
}

/** The column by its name or its label, in any spelling, such as `Category ID` and `category_id`. */
function findColumn(text: string): Column | undefined {
  const key = toKey(text.trim());
  return CSV_COLUMNS.find(({ name, label }) => key === toKey(name) || key === toKey(label));
}

function toKey(text: string): string {
  return text.replace(/^'|[\s_-]/g, '').toLowerCase();
}

/** The value of a row for a parser of pets. Spreadsheets leave out empty last cells. */
function readMembers(cells: readonly string[], header: Header, ignoresColumns: boolean): unknown {
  const isShort = header.slice(cells.length).some((column) => column?.optional === false);
  if (isShort || cells.length > header.length) {
    throw badRequest(`must have ${header.length} cells like the header, not ${cells.length}`);
  }
  const members: Record<string, unknown> = {};
  for (const [index, column] of header.entries()) {
    const cell = cells[index] ?? '';
    if (column) {
      const text = readCell(cell, column);
      members[column.name] = text === '' && column.optional ? null : toFieldValue(column, text);
    } else if (!ignoresColumns && cell.trim() !== '') {
      throw badRequest(`the cell "${cut(cell)}" is in a column without a name`);
    }
  }
  return members;
}

/** The text of a cell, without the mark. People also mark an integer by hand. */
function readCell(cell: string, { kind, isTrimmed, isMarked }: HeaderColumn): string {
  const text = isTrimmed ? cell.trim() : cell;
  if (isMarked && text.startsWith(MARK)) return text.slice(MARK.length);
  return kind === 'int64' ? text.replace(/^'(?=-?\d)/, '') : text;
}
