/** JSON text to values, without what JSON.parse loses: the digits of a number, and members given twice. */

import { PetstoreError } from './error.ts';

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

/**
 * The value of a JSON text (RFC 8259), in which every number is a {@link JsonNumber}.
 *
 * @throws PetstoreError `bad_request` when the text is not JSON, has more than `valuesMax` values or
 *   JSON_LEVELS_MAX levels, or gives a member of an object twice (RFC 8259 section 4 leaves its meaning open).
 */
export function parseJson(text: string, valuesMax: number = JSON_VALUES_MAX): unknown {
  const memberCount = countMembers(text, valuesMax);
  const flat = findFlatObject(text, memberCount);
  if (flat !== undefined) return flat;
  const value = parse(text, (_name, member: unknown, context?: { source?: string }) =>
    typeof member === 'number' ? new JsonNumber(context?.source ?? String(member)) : member,
  );
  const repeated = findRepeatedMember(text);
  if (repeated !== undefined) {
    throw new PetstoreError('bad_request', `the member ${repeated} is given twice`);
  }
  return value;
}

/**
 * The number of members of all objects: of colons outside of strings. The counts are right up to the first mistake,
 * where JSON.parse stops. A loop reads each character once; a regular expression can read the rest for each quote.
 *
 * @throws PetstoreError `bad_request` at the first value or level that is too many.
 */
function countMembers(text: string, valuesMax: number): number {
  let members = 0;
  let commas = 0;
  let levels = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') isString = !isString;
    else if (isString) {
      // The next character is escaped.
      if (character === '\\') at += 1;
    } else if (character === ':') members += 1;
    else if (character === ',') {
      commas += 1;
      if (commas === valuesMax) throw createExcess(`${valuesMax} values`);
    } else if (character === '{' || character === '[') {
      levels += 1;
      if (levels > JSON_LEVELS_MAX) throw createExcess(`${JSON_LEVELS_MAX} levels`);
    } else if (character === '}' || character === ']') levels -= 1;
  }
  return members;
}

function createExcess(bound: string): PetstoreError {
  return new PetstoreError('bad_request', `the JSON must have at most ${bound}`);
}

/** As JSON.parse. @throws PetstoreError `bad_request` for a text that is not JSON. */
const parse: typeof JSON.parse = (text, reviver) => {
  try {
    return JSON.parse(text, reviver);
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw new PetstoreError('bad_request', `not valid JSON: ${message}`, { cause });
  }
};

/** A number that a double may print with other digits; a string that looks like it only takes longer. */
const HARD_NUMBER = /-0|\d[.eE]|\d{16}/;

/**
 * The fast path: the value of a text that is an object of texts, booleans and short integers. Undefined for any other.
 *
 * @param memberCount the number of members in the text. JSON.parse keeps only the last of two members with one name, so
 *   an object with a member that is given twice has fewer. An object with an inner object has fewer too.
 */
function findFlatObject(text: string, memberCount: number): object | undefined {
  if (!text.startsWith('{') || HARD_NUMBER.test(text)) return undefined;
  const value: Record<string, unknown> = parse(text);
  const names = Object.keys(value);
  if (names.length < memberCount) return undefined;
  for (const name of names) {
    const member = value[name];
    if (typeof member === 'object') return undefined;
    if (typeof member === 'number') value[name] = new JsonNumber(String(member));
  }
  return value;
}

const STRING_OR_BRACE = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]/g;

/** The name, in its quotes, that an object of a valid JSON text has twice; else undefined. */
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
