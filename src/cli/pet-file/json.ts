/** Animals from NDJSON and from a JSON array, as the text arrives; a single value is json.ts's work. */

import { parseJson } from '../../json.ts';
import { type NewPet, parseNewPet } from '../../pet.ts';
import { countLineFeeds, parseAtLine, ROW_BYTES_MAX, refuseLine, refuseLongRow } from './text.ts';

const NOT_BLANK = /[^ \t\r]/;
const NOT_WHITE_SPACE = /[^ \t\r\n]/g;
const STRING_OR_STRUCTURE = /"[^"\\]*(?:\\.[^"\\]*)*"|["[\]{},]/gs;

/** One object a line. Only U+000A ends a line: U+2028 and U+2029 may stand in a JSON string. */
export async function* readNdjson(chunks: AsyncIterable<Buffer>): AsyncGenerator<NewPet> {
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
    if (rest.length > ROW_BYTES_MAX) throw refuseLongRow(line);
  }
  if (NOT_BLANK.test(rest)) yield parseRow(line, rest);
}

/** The elements of the one array that the file is. */
export async function* readJsonArray(chunks: AsyncIterable<Buffer>): AsyncGenerator<NewPet> {
  const array = new ArrayText();
  for await (const chunk of chunks) yield* array.push(chunk.toString());
  array.end();
}

/** How far the text of an array is; an animal may come after `[` and `,`, the `]` not after `,`. */
type Place = 'before the array' | 'after [' | 'after an animal' | 'after ,' | 'after the array';

/** Cuts the text of an array into the texts of its elements, and has each judged on its own. */
class ArrayText {
  #place: Place = 'before the array';
  #line = 1;
  #rest = '';

  /** The animals that are complete with this piece of the text. */
  *push(piece: string): Generator<NewPet> {
    const text = this.#rest + piece;
    let at = this.#skipWhiteSpace(text, 0);
    while (at < text.length) {
      let end = at + 1;
      if (!this.#takePunctuation(text[at])) {
        end = findElementEnd(text, at);
        if (end === -1) break;
        const row = text.slice(at, end);
        yield parseRow(this.#line, row);
        this.#line += countLineFeeds(row);
        this.#place = 'after an animal';
      }
      at = this.#skipWhiteSpace(text, end);
    }
    this.#rest = text.slice(at);
    if (this.#rest.length > ROW_BYTES_MAX) throw refuseLongRow(this.#line);
  }

  /** @throws PetstoreError `bad_request` unless the array is closed. */
  end(): void {
    if (this.#place === 'before the array') throw this.#refuse('the file must be a JSON array');
    if (this.#rest !== '') throw this.#refuse('the file ends in the middle of an animal');
    if (this.#place !== 'after the array') {
      throw this.#refuse('the file ends before the ] of its array');
    }
  }

  /** Takes one of the array's own `[`, `,` and `]`; false when an element begins here. */
  #takePunctuation(character: string | undefined): boolean {
    switch (this.#place) {
      case 'before the array':
        if (character !== '[') throw this.#refuse('the file must be a JSON array');
        this.#place = 'after [';
        return true;
      case 'after an animal':
        this.#place = character === ',' ? 'after ,' : 'after the array';
        return true;
      case 'after the array':
        throw this.#refuse('nothing may follow the ] of the array');
      default:
        if (character === ']' && this.#place === 'after [') {
          this.#place = 'after the array';
          return true;
        }
        if (character === ']' || character === ',') {
          throw this.#refuse(`an animal must stand before the ${character}`);
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
    return refuseLine(this.#line, reason);
  }
}

/** Where the `,` or `]` behind the element is, or -1 when that is still to come. */
function findElementEnd(text: string, start: number): number {
  let depth = 0;
  STRING_OR_STRUCTURE.lastIndex = start;
  for (;;) {
    const match = STRING_OR_STRUCTURE.exec(text);
    if (match === null) return -1;
    const [token] = match;
    if (token === '"') return -1;
    if (token === '{' || token === '[') depth += 1;
    else if (depth === 0 && (token === ',' || token === ']')) return match.index;
    else if (depth > 0 && (token === '}' || token === ']')) depth -= 1;
  }
}

function parseRow(line: number, row: string): NewPet {
  if (Buffer.byteLength(row) > ROW_BYTES_MAX) throw refuseLongRow(line);
  return parseAtLine(line, () => parseNewPet(parseJson(row)));
}
