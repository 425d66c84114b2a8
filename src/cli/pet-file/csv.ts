/** Animals from CSV (RFC 4180), and the quoting of its cells; the splitting into cells is csv-parse's. */

import { CsvError, type CsvErrorCode, type InfoRecord, type Parser, parse } from 'csv-parse';
import { JsonNumber } from '../../json.ts';
import { type NewPet, parseNewPet } from '../../pet.ts';
import { countLineFeeds, parseAtLine, ROW_BYTES_MAX, refuseLine, refuseLongRow } from './text.ts';

const NEEDS_QUOTES = /[",\r\n]|^ | $/;

const REASONS: Partial<Record<CsvErrorCode, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'a closing quote must be followed by a comma or the end of the line',
  INVALID_OPENING_QUOTE: 'a cell with a quote in it must be quoted, and its quotes doubled',
};

/** The text as a cell that reads back exactly. */
export function quoteCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The rows below the header. Only U+000A, with or without U+000D before it, ends a row. */
export async function* readCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<NewPet> {
  const rows = new CsvRows();
  for await (const chunk of chunks) yield* await rows.push(chunk);
  yield* await rows.end();
}

class CsvRows {
  readonly #parser: Parser;
  #columns: Columns | undefined;
  #pets: NewPet[] = [];
  /** The line and the byte at which the next row starts. */
  #line = 1;
  #start = 0;
  #bytes = 0;

  constructor() {
    this.#parser = parse({
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      // Taken here and not from the stream's readable side, which loses what stands before an error.
      on_record: (cells: string[], { bytes }: InfoRecord) => {
        this.#take(cells, bytes);
        return null;
      },
    });
    // Each error comes with the write that caused it; the event would end the process.
    this.#parser.on('error', () => {});
  }

  /** The animals that are complete with this piece of the file. */
  async push(chunk: Buffer): Promise<NewPet[]> {
    this.#bytes += chunk.length;
    await this.#settle((done) => this.#parser.write(chunk, done));
    if (this.#bytes - this.#start > ROW_BYTES_MAX) throw refuseLongRow(this.#line);
    return this.#pets.splice(0);
  }

  /** The animal of a last row without an end of line. */
  async end(): Promise<NewPet[]> {
    await this.#settle((done) => this.#parser.end(done));
    this.#columns ??= parseHeader([]);
    return this.#pets.splice(0);
  }

  async #settle(act: (done: (error?: Error | null) => void) => void): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        act((error) => (error ? reject(error) : resolve()));
      });
    } catch (cause) {
      const reason = cause instanceof CsvError ? REASONS[cause.code] : undefined;
      throw reason === undefined ? cause : refuseLine(this.#line, reason, { cause });
    }
  }

  #take(cells: string[], end: number): void {
    if (end - this.#start > ROW_BYTES_MAX) throw refuseLongRow(this.#line);
    if (this.#columns === undefined) this.#columns = parseHeader(cells);
    else if (cells.length > 1 || cells[0] !== '')
      this.#pets.push(this.#parse(this.#columns, cells));
    this.#line += 1;
    for (const cell of cells) this.#line += countLineFeeds(cell);
    this.#start = end;
  }

  #parse({ count, name, categoryId, status }: Columns, cells: string[]): NewPet {
    if (cells.length !== count) {
      throw refuseLine(this.#line, `must have ${count} cells, as the header, not ${cells.length}`);
    }
    return parseAtLine(this.#line, () =>
      parseNewPet({
        name: cells[name],
        categoryId: new JsonNumber(cells[categoryId] ?? ''),
        status: cells[status] || undefined,
      }),
    );
  }
}

/** How many columns there are, and at which index those of an animal stand; -1: there is none. */
interface Columns {
  readonly count: number;
  readonly name: number;
  readonly categoryId: number;
  readonly status: number;
}

function parseHeader(cells: string[]): Columns {
  const seen = new Set<string>();
  for (const cell of cells) {
    // Spreadsheets end their lines with columns that have no name.
    if (cell !== '' && seen.has(cell)) throw refuseLine(1, `the column ${cell} is given twice`);
    seen.add(cell);
  }
  for (const required of ['name', 'categoryId']) {
    if (!seen.has(required)) throw refuseLine(1, `the header must have the column ${required}`);
  }
  return {
    count: cells.length,
    name: cells.indexOf('name'),
    categoryId: cells.indexOf('categoryId'),
    status: cells.indexOf('status'),
  };
}
