/** Pets from CSV (RFC 4180), and to CSV. */

import { PetstoreError } from './error.ts';
import { JsonNumber } from './json.ts';
import { NEW_PET_FIELDS, type Pet } from './pet.ts';
import { createRowError, type PetRow, splitRows } from './rows.ts';

const NEEDS_QUOTES = /[",\r\n]|^ | $/;

const COLUMNS = [{ name: 'id', kind: 'int64', optional: true } as const, ...NEW_PET_FIELDS];

export const CSV_HEADER = `${COLUMNS.map(({ name }) => name)}\n`;

/** The pet as a row below CSV_HEADER. {@link readCsv} reads the same pet from it. */
export function toCsvRow(pet: Pet): string {
  return `${COLUMNS.map(({ name }) => quoteCell(String(pet[name] ?? '')))}\n`;
}

function quoteCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * The rows below the header; blank rows are left out.
 *
 * @throws PetstoreError `bad_request` for a wrong header, and at a wrong quote: it hides where the next rows begin.
 */
export async function* readCsv(
  pieces: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<PetRow> {
  let cell: RegExp | undefined;
  let header: readonly string[] | undefined;
  for await (const { place, text } of splitRows(pieces, true)) {
    const row = text.replace(/\r$/, '');
    cell ??= createCellPattern(/[,;\t]/.exec(row)?.[0] ?? ',');
    const cells = splitCells(place, row, cell);
    if (header === undefined) header = parseHeader(place, cells.map(toFieldName));
    else yield { place, read: toMembers.bind(undefined, cells, header) };
  }
  if (header === undefined) parseHeader('line 1', []);
}

/** The field that a cell of the header names, in any case; else the cell itself. */
function toFieldName(cell: string): string {
  return COLUMNS.find(({ name }) => name.toLowerCase() === cell.toLowerCase())?.name ?? cell;
}

/** Matches a cell, quoted or plain, and the delimiter behind it; behind the last cell it is empty. */
function createCellPattern(delimiter: string): RegExp {
  return new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^${delimiter}"]*))(${delimiter}|$)`, 'gy');
}

function splitCells(place: string, row: string, pattern: RegExp): string[] {
  const cells: string[] = [];
  for (const [, quoted, plain = '', delimiter] of row.matchAll(pattern)) {
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    if (delimiter === '') return cells;
  }
  throw createRowError(place, 'a cell with a quote in it must be quoted, and its quotes doubled');
}

/** @throws PetstoreError `bad_request` when a column of pets is missing or given twice. */
function parseHeader(place: string, names: readonly string[]): readonly string[] {
  for (const { name, optional } of COLUMNS) {
    const count = names.filter((other) => other === name).length;
    if (count > 1) throw createRowError(place, `the column "${name}" is given twice`);
    if (count === 0 && !optional) {
      throw createRowError(place, `the header must have the column "${name}"`);
    }
  }
  return names;
}

/** The value of a row for a parser of pets. An empty cell of an optional field means that the field is absent. */
function toMembers(cells: readonly string[], header: readonly string[]): unknown {
  if (cells.length !== header.length) {
    const reason = `must have ${header.length} cells like the header, not ${cells.length}`;
    throw new PetstoreError('bad_request', reason);
  }
  const members: Record<string, unknown> = {};
  for (const { name, kind, optional } of COLUMNS) {
    const cell = cells[header.indexOf(name)] ?? '';
    if (optional && cell === '') continue;
    members[name] = kind === 'int64' ? new JsonNumber(cell) : cell;
  }
  return members;
}
