/** JSON text to values without the losses of JSON.parse; what the values mean is not known here. */

import { PetstoreError } from './error.ts';

/** A number of a JSON text as the digits that were sent: a double would round what int64 holds. */
export class JsonNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

/**
 * The value of a JSON text (RFC 8259), in which every number is a {@link JsonNumber}.
 *
 * @throws PetstoreError `bad_request` when the text is not JSON, is nested too deeply for the
 *   stack, or gives a member of an object twice (RFC 8259 section 4 leaves the meaning of that open).
 */
export function parseJson(text: string): unknown {
  const plain = findPlainObject(text);
  if (plain !== undefined) return plain;
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

/** A number that is not its own shortest decimal, or might not be; also some strings. */
const HARD_NUMBER = /-0|\d[.eE]|\d{16}/;

/**
 * The object of a text that needs no second look, as nearly all that clients send: its members are no
 * objects, its numbers are short and whole. Undefined for any other text, JSON or not.
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
  for (const name of names) {
    const member = value[name];
    if (typeof member === 'object') return undefined;
    if (typeof member === 'number') value[name] = new JsonNumber(String(member));
  }
  // With more colons than members, one may be given twice.
  return text.split(':', names.length + 2).length === names.length + 1 ? value : undefined;
}

const STRING_OR_BRACE = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]/g;

/** The name, in its quotes, that stands twice in one object of a valid JSON text; else undefined. */
function findRepeatedMember(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, quoted, colon] of text.matchAll(STRING_OR_BRACE)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (quoted !== undefined && colon !== undefined) {
      // The same name may be spelled with escapes.
      const name = quoted.includes('\\') ? JSON.stringify(JSON.parse(quoted)) : quoted;
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}
