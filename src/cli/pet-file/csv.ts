/** Pets from CSV (RFC 4180), which csv-parse splits into cells, and to CSV. */

import { CsvError, type CsvErrorCode, type InfoRecord, type Parser, parse } from 'csv-parse';
import { NEW_PET_FIELDS, type Pet } from '../../pet.ts';
import {
  type Columns,
  countLineFeeds,
  createLineError,
  findDelimiter,
  type PetRow,
  parseHeader,
  toCsvPetRow,
} from '../../pet-file.ts';
import { createLongRowError, ROW_BYTES_MAX } from './text.ts';

const NEEDS_QUOTES = /[",\r\n]|^ | $/;

const REASONS: Partial<Record<CsvErrorCode, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_INVALID_CLOSING_QUOTE:
    'a closing quote must be followed by a delimiter or the end of the line',
  INVALID_OPENING_QUOTE: 'a cell with a quote in it must be quoted, and its quotes doubled',
};

export const CSV_HEADER = `${['id', ...NEW_PET_FIELDS.map(({ name }) => name)]}\n`;

/** The pet as a row below CSV_HEADER, which reads back exactly; an absent field is an empty cell. */
export function toCsvRow(pet: Pet): string {
  const cells = NEW_PET_FIELDS.map(({ name }) => quoteCell(String(pet[name] ?? '')));
  return `${[pet.id, ...cells]}\n`;
}

function quoteCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The pets in the rows below the header. Only U+000A, or U+000D and U+000A, ends a row. */
export async function* readCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<PetRow> {
  let rows: CsvRows | undefined;
  for await (const chunk of joinFirstLine(chunks)) {
    rows ??= new CsvRows(findDelimiter(chunk.toString()));
    yield* rows.push(chunk);
  }
  if (rows !== undefined) yield* rows.end();
}

/** The chunks, at least one, of which the first has all of the first line. */
async function* joinFirstLine(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let first = Buffer.alloc(0);
  let isWhole = false;
  for await (const chunk of chunks) {
    if (isWhole) yield chunk;
    else {
      first = Buffer.concat([first, chunk]);
      isWhole = chunk.includes('\n') || first.length > ROW_BYTES_MAX;
      if (isWhole) yield first;
    }
  }
  if (!isWhole) yield first;
}

class CsvRows {
  readonly #parser: Parser;
  #columns: Columns | undefined;
  #rows: PetRow[] = [];
  /** The line and the byte at which the next row starts. */
  #line = 1;
  #start = 0;
  #bytes = 0;

  constructor(delimiter: string) {
    this.#parser = parse({
      delimiter,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      // The stream's readable side would drop the rows before an error, so they are taken here.
      on_record: (cells: string[], { bytes }: InfoRecord) => {
        this.#take(cells, bytes);
        return null;
      },
    });
    // The callback of each write gets its error; an `error` event without a listener ends the process.
    this.#parser.on('error', () => {});
  }

  /** The rows that end in this chunk of the file. */
  async *push(chunk: Buffer): AsyncGenerator<PetRow> {
    this.#bytes += chunk.length;
    yield* this.#run((done) => this.#parser.write(chunk, done));
    if (this.#bytes - this.#start > ROW_BYTES_MAX) throw createLongRowError(this.#line);
  }

  /** A last row that has no line end. */
  async *end(): AsyncGenerator<PetRow> {
    yield* this.#run((done) => this.#parser.end(done));
    this.#columns ??= parseHeader([]);
  }

  /** The rows that the parser takes; those before an error come first. */
  async *#run(act: (done: (error?: Error | null) => void) => void): AsyncGenerator<PetRow> {
    try {
      await new Promise<void>((resolve, reject) => {
        act((error) => (error ? reject(error) : resolve()));
      });
    } catch (cause) {
      const reason = cause instanceof CsvError ? REASONS[cause.code] : undefined;
      throw reason === undefined ? cause : createLineError(this.#line, reason, { cause });
    } finally {
      yield* this.#rows.splice(0);
    }
  }

  #take(cells: string[], end: number): void {
    if (end - this.#start > ROW_BYTES_MAX) throw createLongRowError(this.#line);
    if (this.#columns === undefined) this.#columns = parseHeader(cells);
    else if (cells.length > 1 || cells[0] !== '')
      this.#rows.push(toCsvPetRow(this.#columns, this.#line, cells));
    this.#line += 1;
    for (const cell of cells) this.#line += countLineFeeds(cell);
    this.#start = end;
  }
}
