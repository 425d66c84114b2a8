/** The pet: the table of its fields, their kinds, and the only parser that decides whether a value is one. */

import { cut, PetstoreError } from './error.ts';
import { explainInteger, findInt64, INT64_MAX, INT64_MIN, isPlainInteger } from './int64.ts';
import { JsonNumber } from './json.ts';

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

export const NAME_CODE_POINTS_MAX = 255;

/** The next pet gets a greater id, so no pet has the greatest int64. */
const ID_MAX = INT64_MAX - 1n;

/** The number of pets on a page: the interface's `limit` ("Limits"). */
export const PAGE_LIMIT_MAX = 100;
export const PAGE_LIMIT_DEFAULT = 20;

/** A pet as a client sends it. */
export interface NewPet {
  readonly name: string;
  readonly categoryId: bigint;
  /** Absent when the client gave none; there is no default. */
  readonly status?: PetStatus;
}

export interface Pet extends NewPet {
  /** An int64 that counts up from 1, assigned by the store and never used twice. */
  readonly id: bigint;
}

/** A pet of a file. Without an id, the store gives it one. */
export type GivenPet = NewPet & { readonly id?: bigint };

export type Schema = Readonly<Record<string, unknown>>;

/** An engine or a file may change U+0000 and unpaired surrogates (`Cs`). An empty cell of CSV is an absent text. */
const TEXT = /^[^\0\p{Cs}]+$/u;

/**
 * What every value of a kind must have, in words, and as a function that finds nothing else. `text` is a string in JSON
 * and a text column, `int64` a number in JSON and an integer column.
 */
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

interface Field {
  readonly kind: keyof typeof KINDS;
  readonly optional: boolean;
  /** The name of the field on pages. */
  readonly label: string;
  /** The schema's name in the document, if it has one. */
  readonly schemaName?: string;
  /** With `enum`, a value must be one of these. */
  readonly schema: Schema & { readonly description: string; readonly enum?: readonly string[] };
  /** What a value must be, in place of the rule of the kind. */
  readonly rule?: string;
  /** Whether the field can have this value of its kind; by default every one. */
  readonly accepts?: (value: never) => boolean;
}

type FieldTable = {
  readonly [Name in keyof NewPet]-?: Field & {
    readonly kind: NewPet[Name] extends bigint | undefined ? 'int64' : 'text';
    readonly optional: undefined extends NewPet[Name] ? true : false;
  };
};

/** The fields, in their order in JSON, CSV and rows. All code of a whole pet is derived from this table. */
const FIELD_TABLE: FieldTable = {
  name: {
    kind: 'text',
    optional: false,
    label: 'Name',
    schema: {
      type: 'string',
      description: `The animal's name, kept as it was sent: 1 to ${NAME_CODE_POINTS_MAX} code points, not blank, without U+0000 and unpaired surrogates.`,
      minLength: 1,
      maxLength: NAME_CODE_POINTS_MAX,
      // All languages take this pattern. They disagree on white space, so `accepts` decides.
      pattern: '^[^\\x00]*[^\\s\\x00][^\\x00]*$',
    },
    rule: `a string of 1 to ${NAME_CODE_POINTS_MAX} characters, not blank, without U+0000 and unpaired surrogates`,
    accepts: (text: string) => NAME.test(text),
  },
  categoryId: {
    kind: 'int64',
    optional: false,
    label: 'Category id',
    schema: int64('Identifier of the category the animal belongs to; exact over all of int64.'),
  },
  status: {
    kind: 'text',
    optional: true,
    label: 'Status',
    schemaName: 'PetStatus',
    schema: { type: 'string', enum: PET_STATUSES, description: 'Whether the pet can be bought.' },
  },
};

/** Not blank. In Unicode U+0085 is white space, but not in `\s`. */
const NAME = new RegExp(`^(?![\\s\\u0085]*$)[^]{1,${NAME_CODE_POINTS_MAX}}$`, 'u');

export interface NewPetField extends Field {
  readonly name: keyof NewPet;
  /** @throws PetstoreError `bad_request` for a value that the field cannot have. The message may show the value. */
  readonly parse: (value: unknown, isShown?: boolean) => unknown;
}

export const NEW_PET_FIELDS: readonly NewPetField[] = Object.entries<Field>(FIELD_TABLE).map(
  ([name, field]) => ({ ...field, name: name as keyof NewPet, parse: createParser(name, field) }),
);

/** The parser of a field. Its kind is checked first, whatever its row says. */
function createParser(name: string, { kind, schema, rule, accepts = () => true }: Field) {
  const choices: readonly unknown[] | undefined = schema.enum;
  const mustBe = rule ?? (choices ? `one of ${choices.join(', ')}` : KINDS[kind].rule);
  return (given: unknown, isShown = false): unknown => {
    const value = KINDS[kind].find(given);
    const isOne = value !== undefined && (choices === undefined || choices.includes(value));
    if (isOne && accepts(value as never)) return value;
    const shown = isShown ? `${name} ${toShown(given)}` : name;
    const reason = (isShown && explainText(kind, given)) || `must be ${mustBe}`;
    throw new PetstoreError('bad_request', `${shown} ${reason}`);
  };
}

function toShown(given: unknown): string {
  return cut(given instanceof JsonNumber ? given.digits : JSON.stringify(given));
}

function explainText(kind: Field['kind'], given: unknown): string | undefined {
  return kind === 'int64' && typeof given === 'string' ? explainInteger(given) : undefined;
}

/** What a text outside of JSON, such as a cell of CSV, stands for: an integer only if it is written in plain digits. */
export function toFieldValue({ kind }: Pick<Field, 'kind'>, text: string): unknown {
  return kind === 'int64' && isPlainInteger(text) ? new JsonNumber(text) : text;
}

/** The value of a field from a text outside of JSON, such as a query or an option. @throws as the field's parser. */
export function parseFieldText(field: NewPetField, text: string): unknown {
  return field.parse(toFieldValue(field, text));
}

/**
 * The pet that a value of {@link parseJson} describes. Other members are ignored, `id` too; nothing is trimmed.
 *
 * @throws PetstoreError `bad_request`, whose message names each field that is wrong, in their order.
 */
export function parseNewPet(value: unknown): NewPet {
  return parseFields(value, NEW_PET_FIELDS, false) as NewPet;
}

/** As {@link parseNewPet}, for a row of a file: the message also shows each wrong value. */
export function parseNewPetRow(value: unknown): NewPet {
  return parseFields(value, NEW_PET_FIELDS, true) as NewPet;
}

const ID_FIELD: Field = {
  kind: 'int64',
  optional: false,
  label: 'ID',
  schema: int64('Unique identifier, assigned by the service: counts up and is never used twice.'),
  rule: `a whole number from 1 to ${ID_MAX}`,
  accepts: (id: bigint) => id >= 1n && id <= ID_MAX,
};
export const ID = { ...ID_FIELD, name: 'id' as const, parse: createParser('id', ID_FIELD) };

/** As {@link parseNewPetRow}, with the id of the row, if it has one. */
export function parseGivenPet(value: unknown): GivenPet {
  return parseFields(value, [{ ...ID, optional: true }, ...NEW_PET_FIELDS], true) as GivenPet;
}

function parseFields(
  value: unknown,
  fields: readonly (NewPetField | typeof ID)[],
  isShown: boolean,
): unknown {
  if (!isObject(value)) throw new PetstoreError('bad_request', 'a pet must be a JSON object');
  const pet: Record<string, unknown> = {};
  const wrong: string[] = [];
  for (const { name, optional, parse } of fields) {
    const member = value[name];
    try {
      if (member !== undefined) pet[name] = parse(member, isShown);
      else if (!optional) wrong.push(`${name} is required`);
    } catch (error) {
      if (!(error instanceof PetstoreError)) throw error;
      wrong.push(error.message);
    }
  }
  if (wrong.length > 0) throw new PetstoreError('bad_request', wrong.join('; '));
  return pet;
}

/** The pet as JSON text. JSON.stringify refuses a bigint, so the digits are written here. */
export function toPetJson(pet: Pet): string {
  let json = `{"id":${pet.id}`;
  for (const { name, kind } of NEW_PET_FIELDS) {
    const value = pet[name];
    if (value === undefined) continue;
    json += `,"${name}":${kind === 'int64' ? value : JSON.stringify(value)}`;
  }
  return `${json}}`;
}

export function int64(description: string) {
  return { type: 'integer', format: 'int64', description };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isPlain && !(value instanceof JsonNumber);
}
