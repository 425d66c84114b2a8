/** Pets from NDJSON and from a JSON array, which is split into its elements as the text arrives. */

import { parseJson } from '../../json.ts';
import { parseNewPet } from '../../pet.ts';
import { countLineFeeds, createLineError, type PetRow, toPetRow } from '../../pet-file.ts';
import { createLongRowError, ROW_BYTES_MAX } from './text.ts';

const NOT_BLANK = /[^ \t\r]/;
const NOT_WHITE_SPACE = /[^ \t\r\n]/g;
const STRING_OR_STRUCTURE = /"[^"\\]*(?:\\.[^"\\]*)*"|["[\]{},]/gs;

/** The pets of NDJSON. Only U+000A ends a line: a JSON string may contain U+2028 and U+2029. */
export async function* readNdjson(chunks: AsyncIterable<Buffer>): AsyncGenerator<PetRow> {
  let line = 1;
  let rest = '';
  for await (const chunk of chunks) {
    const text = rest + chunk.toString();
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const row = text.slice(start, end);
      if (NOT_BLANK.test(row)) yield parseRow(line, row);
      line += 1;
      start = end + 1;
    }
    rest = text.slice(start);
    if (rest.length > ROW_BYTES_MAX) throw createLongRowError(line);
  }
  if (NOT_BLANK.test(rest)) yield parseRow(line, rest);
}

/** The pets in the one array that the file consists of. */
export async function* readJsonArray(chunks: AsyncIterable<Buffer>): AsyncGenerator<PetRow> {
  const splitter = new ArraySplitter();
  for await (const chunk of chunks) yield* splitter.push(chunk.toString());
  splitter.end();
}

/** What was read last. A pet may follow `[` and `,`; a `]` may follow `[` and a pet. */
type Position = 'before the array' | 'after [' | 'after a pet' | 'after ,' | 'after the array';

/** Splits the text of an array into the texts of its elements, which are parsed one by one. */
class ArraySplitter {
  #position: Position = 'before the array';
  #line = 1;
  #rest = '';

  /** The pets whose text ends in this piece. */
  *push(piece: string): Generator<PetRow> {
    const text = this.#rest + piece;
    let at = this.#skipWhiteSpace(text, 0);
    while (at < text.length) {
      let end = at + 1;
      if (!this.#takePunctuation(text[at])) {
        const found = findElementEnd(text, at);
        if (found === undefined) break;
        end = found;
        const row = text.slice(at, end);
        yield parseRow(this.#line, row);
        this.#line += countLineFeeds(row);
        this.#position = 'after a pet';
      }
      at = this.#skipWhiteSpace(text, end);
    }
    this.#rest = text.slice(at);
    if (this.#rest.length > ROW_BYTES_MAX) throw createLongRowError(this.#line);
  }

  /** @throws PetstoreError `bad_request` unless the array is closed. */
  end(): void {
    if (this.#position === 'before the array') throw this.#refuse('the file must be a JSON array');
    if (this.#rest !== '') throw this.#refuse('the file ends in the middle of a pet');
    if (this.#position !== 'after the array') {
      throw this.#refuse('the file ends before the ] of its array');
    }
  }

  /** Consumes one of the array's own `[`, `,` and `]`; false when an element begins here. */
  #takePunctuation(character: string | undefined): boolean {
    switch (this.#position) {
      case 'before the array':
        if (character !== '[') throw this.#refuse('the file must be a JSON array');
        this.#position = 'after [';
        return true;
      case 'after a pet':
        this.#position = character === ',' ? 'after ,' : 'after the array';
        return true;
      case 'after the array':
        throw this.#refuse('nothing may follow the ] of the array');
      default:
        if (character === ']' && this.#position === 'after [') {
          this.#position = 'after the array';
          return true;
        }
        if (character === ']' || character === ',') {
          throw this.#refuse(`a pet must stand before the ${character}`);
        }
        return false;
    }
  }

  #skipWhiteSpace(text: string, start: number): number {
    NOT_WHITE_SPACE.lastIndex = start;
    const end = NOT_WHITE_SPACE.exec(text)?.index ?? text.length;
    if (end > start) this.#line += countLineFeeds(text.slice(start, end));
    return end;
  }

  #refuse(reason: string): Error {
    return createLineError(this.#line, reason);
  }
}

/** The index of the `,` or `]` after the element; undefined when it has not arrived yet. */
function findElementEnd(text: string, start: number): number | undefined {
  let depth = 0;
  STRING_OR_STRUCTURE.lastIndex = start;
  for (;;) {
    const match = STRING_OR_STRUCTURE.exec(text);
    if (match === null) return undefined;
    const [token] = match;
    // A string whose end has not arrived yet.
    if (token === '"') return undefined;
    if (token === '{' || token === '[') depth += 1;
    else if (depth === 0 && (token === ',' || token === ']')) return match.index;
    else if (depth > 0 && (token === '}' || token === ']')) depth -= 1;
  }
}

function parseRow(line: number, row: string): PetRow {
  if (Buffer.byteLength(row) > ROW_BYTES_MAX) throw createLongRowError(line);
  return toPetRow(line, () => parseNewPet(parseJson(row)));
}
