/** The pet: the table of its fields, and the only parser that decides whether a value is one. */

import { badRequest, PetstoreError } from './error.ts';
import { INT64_MAX } from './int64.ts';
import { isObject } from './json.ts';
import { type Field, int64, type NamedField, nameField } from './pet-field.ts';

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

export const NAME_CODE_POINTS_MAX = 255;

/** The next pet gets a greater id, so no pet has the greatest int64. */
const ID_MAX = INT64_MAX - 1n;

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

/** A pet of a file. Without an id, the store gives it one. It `lacks` the fields that its row does not speak of. */
export type GivenPet = NewPet & { readonly id?: bigint; readonly lacks?: readonly string[] };

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
    isTrimmed: false,
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
    isTrimmed: true,
    label: 'Category id',
    schema: int64('Identifier of the category the animal belongs to; exact over all of int64.'),
  },
  status: {
    kind: 'text',
    optional: true,
    isTrimmed: true,
    label: 'Status',
    schemaName: 'PetStatus',
    schema: { type: 'string', enum: PET_STATUSES, description: 'Whether the pet can be bought.' },
  },
};

/** Not blank. In Unicode U+0085 is white space, but not in `\s`. */
const NAME = new RegExp(`^(?![\\s\\u0085]*$)[^]{1,${NAME_CODE_POINTS_MAX}}$`, 'u');

export type NewPetField = NamedField<keyof NewPet>;

export const NEW_PET_FIELDS: readonly NewPetField[] = Object.entries<Field>(FIELD_TABLE).map(
  ([name, field]) => nameField(name as keyof NewPet, field),
);

export const ID = nameField('id', {
  kind: 'int64',
  optional: false,
  isTrimmed: true,
  label: 'ID',
  schema: int64('Unique identifier, assigned by the service: counts up and is never used twice.'),
  rule: `a whole number from 1 to ${ID_MAX}`,
  accepts: (id: bigint) => id >= 1n && id <= ID_MAX,
});

/**
 * The pet that a value of {@link parseJson} describes. Other members are ignored, `id` too; nothing is trimmed.
 *
 * @throws PetstoreError `bad_request`, whose message names each field that is wrong, in their order.
 */
export function parseNewPet(value: unknown): NewPet {
  return parseFields(value, NEW_PET_FIELDS, false) as NewPet;
}

export const GIVEN_PET_FIELDS = [{ ...ID, optional: true }, ...NEW_PET_FIELDS];

/**
 * As {@link parseNewPet}, for a row of a file: an optional field may be null, and the message shows each wrong value.
 *
 * @param keepsId whether the pet has the id of the row, if the row has one.
 */
export function parsePetRow(value: unknown, keepsId = false): GivenPet {
  return parseFields(value, keepsId ? GIVEN_PET_FIELDS : NEW_PET_FIELDS, true) as GivenPet;
}

function parseFields(
  value: unknown,
  fields: readonly (NewPetField | typeof ID)[],
  isRow: boolean,
): unknown {
  if (!isObject(value)) throw badRequest('a pet must be a JSON object');
  const pet: Record<string, unknown> = {};
  const wrong: string[] = [];
  for (const { name, optional, parse } of fields) {
    const member = value[name];
    try {
      if (isRow && optional && member === null) continue;
      if (member !== undefined) pet[name] = parse(member, isRow);
      else if (!optional) wrong.push(`${name} is required`);
    } catch (error) {
      if (!(error instanceof PetstoreError)) throw error;
      wrong.push(error.message);
    }
  }
  if (wrong.length > 0) throw badRequest(wrong.join('; '));
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
