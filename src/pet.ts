/** The pet: the table of its fields, their limits, and the only parser that decides whether a value is one. */

import { PetstoreError } from './error.ts';
import { findInt64, INT64_MAX, INT64_MIN } from './int64.ts';
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

export type Schema = Readonly<Record<string, unknown>>;

interface Field<Value> {
  /** `text` is a string in JSON and a text column, `int64` a number in JSON and an integer column. */
  readonly kind: 'text' | 'int64';
  readonly optional: boolean;
  /** The name of the field on pages. */
  readonly label: string;
  /** The schema's name in the document, if it has one. */
  readonly schemaName?: string;
  readonly schema: Schema & { readonly description: string; readonly enum?: readonly string[] };
  /** @throws PetstoreError `bad_request` for a value that the field cannot have. */
  readonly parse: (value: unknown) => Value;
}

type FieldTable = {
  readonly [Name in keyof NewPet]-?: Field<Exclude<NewPet[Name], undefined>> & {
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
      // All languages take this pattern. They disagree on white space, so the parser decides.
      pattern: '^[^\\x00]*[^\\s\\x00][^\\x00]*$',
    },
    parse: parseName,
  },
  categoryId: {
    kind: 'int64',
    optional: false,
    label: 'Category id',
    schema: int64('Identifier of the category the animal belongs to; exact over all of int64.'),
    parse: createInt64Parser('categoryId', INT64_MIN, INT64_MAX),
  },
  status: {
    kind: 'text',
    optional: true,
    label: 'Status',
    schemaName: 'PetStatus',
    schema: { type: 'string', enum: PET_STATUSES, description: 'Whether the pet can be bought.' },
    parse: parsePetStatus,
  },
};

export interface NewPetField extends Field<unknown> {
  readonly name: keyof NewPet;
}

export const NEW_PET_FIELDS: readonly NewPetField[] = Object.entries(FIELD_TABLE).map(
  ([name, field]) => ({ name: name as keyof NewPet, ...field }),
);

/** The filters of a list, by the names of their fields. A filter keeps the pets whose field has its value. */
const FILTER_TABLE = {
  status: 'Filters by availability status.',
} as const satisfies { readonly [Name in keyof NewPet]?: string };

export type PetFilters = {
  readonly [Name in keyof typeof FILTER_TABLE]?: NewPet[Name] | undefined;
};

export const PET_FILTERS = (Object.keys(FILTER_TABLE) as (keyof PetFilters)[]).map((name) => ({
  name,
  description: FILTER_TABLE[name],
  ...FIELD_TABLE[name],
}));
export type PetFilter = (typeof PET_FILTERS)[number];

/** The filters as the end of the query of an address, such as `&status=sold`. */
export function toFilterQuery(filters: PetFilters): string {
  let query = '';
  for (const { name } of PET_FILTERS) {
    const value = filters[name];
    if (value !== undefined) query += `&${name}=${encodeURIComponent(String(value))}`;
  }
  return query;
}

/** The value of a field from a text outside of JSON, such as a query or an option. @throws as the field's parser. */
export function parseFieldText({ kind, parse }: NewPetField, text: string): unknown {
  return parse(kind === 'int64' ? new JsonNumber(text) : text);
}

/**
 * The pet that a value of {@link parseJson} describes. Other members are ignored, `id` too; nothing is trimmed.
 *
 * @throws PetstoreError `bad_request`, whose message names each field that is wrong, in their order.
 */
export function parseNewPet(value: unknown): NewPet {
  return parseFields(value, NEW_PET_FIELDS) as NewPet;
}

const ID = { name: 'id', optional: false, parse: createInt64Parser('id', 1n, ID_MAX) };

/** As {@link parseNewPet}, for a pet with its id. */
export function parsePet(value: unknown): Pet {
  return parseFields(value, [ID, ...NEW_PET_FIELDS]) as Pet;
}

function parseFields(value: unknown, fields: readonly (NewPetField | typeof ID)[]): unknown {
  if (!isObject(value)) throw new PetstoreError('bad_request', 'a pet must be a JSON object');
  const pet: Record<string, unknown> = {};
  const wrong: string[] = [];
  for (const { name, optional, parse } of fields) {
    const member = value[name];
    try {
      if (member !== undefined) pet[name] = parse(member);
      else if (!optional) wrong.push(`${name} is required`);
    } catch (error) {
      if (!(error instanceof PetstoreError)) throw error;
      wrong.push(error.message);
    }
  }
  if (wrong.length > 0) throw new PetstoreError('bad_request', wrong.join('; '));
  return pet;
}

function parsePetStatus(value: unknown): PetStatus {
  const status = PET_STATUSES.find((known) => known === value);
  if (status !== undefined) return status;
  throw new PetstoreError('bad_request', `status must be one of ${PET_STATUSES.join(', ')}`);
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

/** Not blank, without U+0000 and unpaired surrogates (`Cs`). In Unicode U+0085 is white space, but not in `\s`. */
const NAME = new RegExp(`^(?![\\s\\u0085]*$)[^\\0\\p{Cs}]{1,${NAME_CODE_POINTS_MAX}}$`, 'u');

function parseName(value: unknown): string {
  if (typeof value === 'string' && NAME.test(value)) return value;
  throw new PetstoreError(
    'bad_request',
    `name must be a string of 1 to ${NAME_CODE_POINTS_MAX} characters, not blank, without U+0000 and unpaired surrogates`,
  );
}

function createInt64Parser(name: string, min: bigint, max: bigint): (value: unknown) => bigint {
  return (value) => {
    const number = value instanceof JsonNumber ? findInt64(value.digits) : undefined;
    if (number !== undefined && number >= min && number <= max) return number;
    throw new PetstoreError('bad_request', `${name} must be a whole number from ${min} to ${max}`);
  };
}
