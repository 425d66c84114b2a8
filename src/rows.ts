/** The rows of a file of pets: it splits a text into rows, and names the place of a wrong row. */

import { PetstoreError } from './error.ts';
import { parseJson } from './json.ts';

/** Bounds the memory that a file without line ends can take. */
const ROW_CHARACTERS_MAX = 65_536;
const TOO_LONG = `longer than ${ROW_CHARACTERS_MAX} characters; is a quote or the end of a line missing?`;

/** How many wrong rows of a file are shown. The others are counted. */
const WRONG_ROWS_MAX = 20;

const NOT_BLANK = /[^ \t\r]/;

/** Why a row is no pet; the message names the place of the row, on a single line. */
export class RowError extends PetstoreError {
  constructor(place: string, reason: string) {
    // JSON.parse's "(line 1 column 8)" counts from the start of the row, not of the file.
    const words = reason.replace(/ \(line \d+ column \d+\)$/, '').replace(/\p{Cc}+/gu, ' ');
    super('bad_request', `${place}: ${words}`);
  }
}

/** A row of a file of pets. */
export interface PetRow {
  /** Where the row stands, such as "line 3". */
  readonly place: string;
  /** The value for a parser of pets. @throws PetstoreError when the row has no value. */
  readonly read: () => unknown;
}

/**
 * The rows of a text that comes in pieces, without blank rows and without line ends. Only U+000A ends a row: JSON
 * strings and cells of CSV may have other line ends in them.
 *
 * @param hasQuotes whether a line end between two quotes belongs to the row.
 * @throws RowError for a row that is too long.
 */
export async function* splitRows(
  pieces: AsyncIterable<string> | Iterable<string>,
  hasQuotes: boolean,
): AsyncGenerator<{ readonly place: string; readonly text: string }> {
  let line = 1;
  let place = 'line 1';
  let text = '';
  let isQuoted = false;
  for await (const piece of pieces) {
    for (const [index, part] of piece.split('\n').entries()) {
      if (index > 0) {
        line += 1;
        if (isQuoted) text += '\n';
        else {
          if (NOT_BLANK.test(text)) yield { place, text };
          text = '';
          place = `line ${line}`;
        }
      }
      text += part;
      if (text.length > ROW_CHARACTERS_MAX) throw new RowError(place, TOO_LONG);
      if (hasQuotes && part.split('"').length % 2 === 0) isQuoted = !isQuoted;
    }
  }
  if (NOT_BLANK.test(text)) yield { place, text };
}

/** What `parse` makes of the row, or why the row is no pet. */
export function parseRow<Parsed>(
  { place, read }: PetRow,
  parse: (value: unknown) => Parsed,
): Parsed | RowError {
  try {
    return parse(read());
  } catch (cause) {
    if (!(cause instanceof PetstoreError)) throw cause;
    return new RowError(place, cause.message);
  }
}

/**
 * What `parse` makes of the rows before the first wrong row. The rows after it are only checked.
 *
 * @param report called with the lines for several wrong rows.
 * @throws RowError for a single wrong row. PetstoreError `bad_request` with the number of several wrong rows.
 */
export async function* parseRows<Parsed>(
  rows: AsyncIterable<PetRow> | Iterable<PetRow>,
  parse: (value: unknown) => Parsed,
  report: (line: string) => void,
): AsyncGenerator<Parsed> {
  const shown: RowError[] = [];
  let wrong = 0;
  const refuse = (row: RowError) => {
    if (wrong < WRONG_ROWS_MAX) shown.push(row);
    wrong += 1;
  };
  try {
    for await (const row of rows) {
      const parsed = parseRow(row, parse);
      if (parsed instanceof RowError) refuse(parsed);
      else if (wrong === 0) yield parsed;
    }
  } catch (cause) {
    if (!(cause instanceof RowError)) throw cause;
    refuse(cause);
  }
  const [first] = shown;
  if (first === undefined) return;
  if (wrong === 1) throw first;
  for (const { message } of shown) report(message);
  if (wrong > shown.length) report(`and ${wrong - shown.length} more`);
  throw new PetstoreError('bad_request', `${wrong} rows are wrong`);
}

/**
 * The rows of a JSON text.
 *
 * @throws PetstoreError `bad_request` when the text is no array, or has more than `valuesMax` values.
 */
export function* readJsonRows(
  text: string,
  valuesMax = Number.POSITIVE_INFINITY,
): Generator<PetRow> {
  const values = parseJson(text, valuesMax);
  if (!Array.isArray(values)) {
    throw new PetstoreError('bad_request', 'the file must be a JSON array');
  }
  for (const [index, value] of values.entries()) {
    yield { place: `pet ${index + 1}`, read: () => value };
  }
}
