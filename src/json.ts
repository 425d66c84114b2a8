/** JSON text to values, without what JSON.parse loses: the digits of a number, and members given twice. */

import { PetstoreError } from './error.ts';

/** The most members and elements of a text: 64 KiB of small ones would block the event loop for 20 to 45 ms. */
const VALUES_MAX = 1_000;

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
 * @throws PetstoreError `bad_request` when the text is not JSON, has more than VALUES_MAX values, is
 *   nested too deeply for the stack, or gives a member of an object twice (RFC 8259 section 4 leaves the meaning of that open).
 */
export function parseJson(text: string): unknown {
  const plain = findPlainObject(text);
  if (plain !== undefined) return plain;
  if (hasTooManyValues(text)) {
    throw new PetstoreError('bad_request', `the JSON has more than ${VALUES_MAX} values`);
  }
  let value: unknown;
  let repeated: string | undefined;
  try {
    value = JSON.parse(text, (_name, member: unknown, context?: { source?: string }) =>
      typeof member === 'number' ? new JsonNumber(context?.source ?? String(member)) : member,
    );
    repeated = findRepeatedMember(text);
  } catch (cause) {
    throw new PetstoreError('bad_request', `not valid JSON: ${describe(cause)}`, { cause });
  }
  if (repeated !== undefined) {
    throw new PetstoreError('bad_request', `the member ${repeated} is given twice`);
  }
  return value;
}

function describe(cause: unknown): string {
  if (cause instanceof RangeError) return 'it is nested too deeply';
  return cause instanceof Error ? cause.message : String(cause);
}

/** Numbers that may not print as they were sent, once they are doubles; also matches some strings. */
const HARD_NUMBER = /-0|\d[.eE]|\d{16}/;

/**
 * The fast path for nearly all that clients send: an object whose members are not objects and whose
 * numbers are short integers. One JSON.parse without a reviver is enough for it. Undefined for any
 * other text, JSON or not.
 */
function findPlainObject(text: string): object | undefined {
  if (!text.startsWith('{') || HARD_NUMBER.test(text)) return undefined;
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const names = Object.keys(value);
  if (names.length > VALUES_MAX) return undefined;
  for (const name of names) {
    const member = value[name];
    if (typeof member === 'object') return undefined;
    if (typeof member === 'number') value[name] = new JsonNumber(String(member));
  }
  // Each member has a colon. A text with more of them may give a member twice.
  return text.split(':', names.length + 2).length === names.length + 1 ? value : undefined;
}

const STRING_OR_COMMA = /"[^"\\]*(?:\\.[^"\\]*)*"|,/g;

/** Whether there are VALUES_MAX commas outside of strings, one between two values; stops at the last of these. */
function hasTooManyValues(text: string): boolean {
  let commas = 0;
  for (const [token] of text.matchAll(STRING_OR_COMMA)) {
    if (token === ',') commas += 1;
    if (commas === VALUES_MAX) return true;
  }
  return false;
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
