/** A field of a pet: its row, its kind, and the parser of its values, which is made of both. */

import { badRequest, cut } from './error.ts';
import { explainInteger, findInt64, INT64_MAX, INT64_MIN, isPlainInteger } from './int64.ts';
import { JsonNumber } from './json.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** An engine or a file may change U+0000 and unpaired surrogates (`Cs`). An empty cell of CSV is an absent text. */
const TEXT = /^[^\0\p{Cs}]+$/u;

/** What a value of a kind must be. `text` is a string in JSON and a text column, `int64` a number and an integer column. */
const KINDS = {
  text: {
    rule: 'a string, not empty, without U+0000 and unpaired surrogates',
    find: (value: unknown) => (typeof value === 'string' && TEXT.test(value) ? value : undefined),
  },
  int64: {
    rule: `a whole number from ${INT64_MIN} to ${INT64_MAX}`,
    find: (value: unknown) => (value instanceof JsonNumber ? findInt64(value.digits) : undefined),
  },
};

export interface Field {
  readonly kind: keyof typeof KINDS;
  readonly optional: boolean;
  /** Whether blanks around a value, in a cell of CSV, are no part of it. */
  readonly isTrimmed: boolean;
  readonly label: string;
  /** The schema's name in the document, if it has one. */
  readonly schemaName?: string;
  /** With `enum`, a value must be one of these. */
  readonly schema: JsonSchema & { readonly description: string; readonly enum?: readonly string[] };
  /** What a value must be, in place of the rule of the kind. */
  readonly rule?: string;
  /** Whether the field can have this value of its kind; by default every one. */
  readonly accepts?: (value: never) => boolean;
}

export interface NamedField<Name extends string> extends Field {
  readonly name: Name;
  /** @throws PetstoreError `bad_request` for a value that the field cannot have. The message may show the value. */
  readonly parse: (value: unknown, isShown?: boolean) => unknown;
}

export function int64(description: string) {
  return { type: 'integer', format: 'int64', description };
}

/** The field with its parser, which checks the kind first, whatever the row says. */
export function nameField<Name extends string>(name: Name, field: Field): NamedField<Name> {
  const { kind, schema, rule, accepts = () => true } = field;
  const choices: readonly unknown[] | undefined = schema.enum;
  const mustBe = rule ?? (choices ? `one of ${choices.join(', ')}` : KINDS[kind].rule);
  const parse = (given: unknown, isShown = false): unknown => {
    const value = KINDS[kind].find(given);
    const isOne = value !== undefined && (choices === undefined || choices.includes(value));
    if (isOne && accepts(value as never)) return value;
    const shown = isShown ? `${name} ${toShown(given)}` : name;
    const isText = isShown && kind === 'int64' && typeof given === 'string';
    const reason = (isText && explainInteger(given)) || `must be ${mustBe}`;
    throw badRequest(`${shown} ${reason}`);
  };
  return { ...field, name, parse };
}

function toShown(given: unknown): string {
  return cut(given instanceof JsonNumber ? given.digits : JSON.stringify(given));
}

/** What a text outside of JSON, such as a cell of CSV, stands for: an integer only if it is written in plain digits. */
export function toFieldValue({ kind }: Pick<Field, 'kind'>, text: string): unknown {
  return kind === 'int64' && isPlainInteger(text) ? new JsonNumber(text) : text;
}
