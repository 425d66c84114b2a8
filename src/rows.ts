/** The rows of a file of pets: it splits a text into rows, and names the place of a wrong row. */

import { badRequest, PetstoreError } from './error.ts';
import { parseJson } from './json.ts';
import { toPrintable } from './printable.ts';

/** Bounds the memory that a file without line ends can take. */
const ROW_CHARACTERS_MAX = 65_536;
const ROW_TOO_LONG = `longer than ${ROW_CHARACTERS_MAX} characters; is a quote or the end of a line missing?`;

/** How many wrong rows of a file, and how many with broken formulas, are shown. The others are counted. */
const ROWS_SHOWN_MAX = 20;

/** What a spreadsheet writes for a broken formula. */
const FORMULA_ERROR = /^#(?:REF!|N\/A|NAME\?|VALUE!|DIV\/0!|NULL!|NUM!)$/;

const NOT_BLANK = /[^ \t\r]/;

/** How many first pets of a file are compared with the store, to warn when the file was added before. */
export const COMPARED_PETS = 10;

export type Pieces = AsyncIterable<string> | Iterable<string>;

/** Says why a row is no pet, and where it stands, on a single line. */
export function createRowError(place: string, reason: string): PetstoreError {
  // JSON.parse's "(line 1 column 8)" counts from the start of the row, not of the file.
  const words = reason.replace(/ \(line \d+ column \d+\)$/, '');
  return badRequest(toPrintable(`${place}: ${words}`));
}

export interface FileRow {
  /** Where the row stands, such as "line 3". */
  readonly place: string;
  /** The value for a parser of pets. @throws PetstoreError when the row has no value. */
  readonly read: () => unknown;
}

/**
 * The text of a file in pieces, without a byte order mark.
 *
 * @throws PetstoreError `bad_request` when the bytes are not UTF-8.
 */
export async function* decodeText(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (cause) {
    // The decoder throws it.
    if (!(cause instanceof TypeError)) throw cause;
    const message = 'the file is not UTF-8: save it as UTF-8 (in a spreadsheet: "CSV UTF-8")';
    throw badRequest(message, { cause });
  }
}

/**
 * The rows of a text that comes in pieces, without blank rows and without line ends. In CSV also U+000D ends a row; in
 * NDJSON it is white space.
 *
 * @param isCsv whether a line end between two quotes belongs to the row.
 * @throws PetstoreError `bad_request` for a row that is too long.
 */
export async function* splitRows(pieces: Pieces, isCsv: boolean) {
  let line = 1;
  let place = 'line 1';
  let text = '';
  let isQuoted = false;
  let held = '';
  for await (const piece of pieces) {
    const all = held + piece;
    // The U+000A of this line end may come in the next piece.
    held = isCsv && all.endsWith('\r') ? '\r' : '';
    const parts = all.slice(0, all.length - held.length).split(isCsv ? /(\r\n|\n|\r)/ : /(\n)/);
    for (const [index, part] of parts.entries()) {
      const isLineEnd = index % 2 === 1;
      if (isLineEnd) line += 1;
      if (isLineEnd && !isQuoted) {
        if (NOT_BLANK.test(text)) yield { place, text };
        text = '';
        place = `line ${line}`;
      } else {
        text += part;
        if (text.length > ROW_CHARACTERS_MAX) throw createRowError(place, ROW_TOO_LONG);
        if (isCsv && part.split('"').length % 2 === 0) isQuoted = !isQuoted;
      }
    }
  }
  if (NOT_BLANK.test(text)) yield { place, text };
}

/**
 * What `parse` makes of the rows before the first wrong row. The rows after it are only checked.
 *
 * @param report called with the lines for several wrong rows, and for broken formulas.
 * @throws PetstoreError `bad_request` for a wrong row, or with the number of several wrong rows.
 */
export async function* parseRows<Parsed extends object>(
  rows: AsyncIterable<FileRow> | Iterable<FileRow>,
  parse: (value: unknown) => Parsed,
  report: (line: string) => void,
): AsyncGenerator<Parsed> {
  const shown: PetstoreError[] = [];
  let wrong = 0;
  let broken = 0;
  for await (const { place, read } of rows) {
    try {
      const parsed = parse(read());
      const error = Object.values(parsed).find((value) => FORMULA_ERROR.test(String(value)));
      if (error) broken += 1;
      if (error && broken <= ROWS_SHOWN_MAX)
        report(`${place}: ${error} comes from a broken formula`);
      if (wrong === 0) yield parsed;
    } catch (error) {
      if (!(error instanceof PetstoreError)) throw error;
      if (wrong < ROWS_SHOWN_MAX) shown.push(createRowError(place, error.message));
      wrong += 1;
    }
  }
  if (broken > ROWS_SHOWN_MAX)
    report(`and ${broken - ROWS_SHOWN_MAX} more come from broken formulas`);
  const [first] = shown;
  if (first === undefined) return;
  if (wrong === 1) throw first;
  for (const { message } of shown) report(message);
  if (wrong > shown.length) report(`and ${wrong - shown.length} more`);
  throw badRequest(`${wrong} rows are wrong`);
}

/**
 * The rows of a JSON text.
 *
 * @throws PetstoreError `bad_request` when the text is no array, or has more than `valuesMax` values.
 */
export function* readJsonRows(text: string, valuesMax = Infinity): Generator<FileRow> {
  const values = parseJson(text, valuesMax);
  if (!Array.isArray(values)) throw badRequest('the file must be a JSON array');
  for (const [index, value] of values.entries()) {
    yield { place: `pet ${index + 1}`, read: () => value };
  }
}
