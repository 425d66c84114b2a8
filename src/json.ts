/** JSON text to values, without what JSON.parse loses: the digits of a number, and members given twice. */

import { badRequest, type PetstoreError } from './error.ts';

/** The most members and elements of a client's text: 64 KiB of small ones would block the event loop for 20 to 45 ms. */
export const JSON_VALUES_MAX = 1_000;

/** The most levels of objects and arrays: JSON.parse with a reviver calls itself for each level. */
export const JSON_LEVELS_MAX = 16;

/** A number as the digits that were sent: a double would round an int64. */
export class JsonNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

/** Whether a value of {@link parseJson} is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isPlain && !(value instanceof JsonNumber);
}

/**
 * The value of a JSON text (RFC 8259), in which every number is a {@link JsonNumber}.
 *
 * @throws PetstoreError `bad_request` for no JSON, too many values or levels, or a member of an object given twice.
 */
export function parseJson(text: string, valuesMax: number = JSON_VALUES_MAX): unknown {
  const members = countMembers(text, valuesMax);
  // The last call is for the whole value.
  let kept = -1;
  const value = parse(text, function (this: unknown, _name, member, context?: { source?: string }) {
    if (!Array.isArray(this)) kept += 1;
    return typeof member === 'number' ? new JsonNumber(context?.source ?? String(member)) : member;
  });
  // Of two members with one name, JSON.parse keeps only the last.
  if (kept === members) return value;
  throw badRequest(`the member ${findRepeatedMember(text)} is given twice`);
}

/**
 * The number of colons outside of strings, right up to the first mistake, where JSON.parse stops. A regular expression
 * could read the rest of the text again for each quote.
 *
 * @throws PetstoreError `bad_request` at the first value or level that is too many.
 */
function countMembers(text: string, valuesMax: number): number {
  let members = 0;
  let values = 0;
  let levels = 0;
  /** Whether a level has just begun: it may be empty. */
  let isNew = false;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    const isFirst = isNew && !' \t\r\n'.includes(character);
    if (isFirst) isNew = false;
    if (isFirst ? !']}'.includes(character) : character === ',' && !isString) {
      values += 1;
      if (values > valuesMax) throw createExcess(`${valuesMax} values`);
    }
    if (character === '"') isString = !isString;
    else if (isString) {
      // The next character is escaped.
      if (character === '\\') at += 1;
    } else if (character === ':') members += 1;
    else if (character === '{' || character === '[') {
      isNew = true;
      levels += 1;
      if (levels > JSON_LEVELS_MAX) throw createExcess(`${JSON_LEVELS_MAX} levels`);
    } else if (character === '}' || character === ']') levels -= 1;
  }
  return members;
}

function createExcess(bound: string): PetstoreError {
  return badRequest(`the JSON must have at most ${bound}`);
}

const parse: typeof JSON.parse = (text, reviver) => {
  try {
    return JSON.parse(text, reviver);
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw badRequest(`not valid JSON: ${message}`, { cause });
  }
};

const STRING_OR_BRACE = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]/g;

/** The first name, in its quotes, that an object of a valid JSON text has twice. */
function findRepeatedMember(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, quoted, colon] of text.matchAll(STRING_OR_BRACE)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (quoted !== undefined && colon !== undefined) {
      // Escapes are another spelling of the same name.
      const name = quoted.includes('\\') ? JSON.stringify(JSON.parse(quoted)) : quoted;
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}

/** As JSON.stringify, with the digits of each bigint: an int64 would be rounded as a double. */
export function writeJson(value: object, indent?: number): string {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  const toExact = (_name: string, member: unknown) =>
    typeof member === 'bigint' ? rawJSON(String(member)) : member;
  return JSON.stringify(value, toExact, indent);
}
