/** The schemas that the document names (its components), as in the interface: PetStatus, NewPet, Pet, Pets, Error. */

import { type TSchema, type TUnsafe, Type } from 'typebox';
import { ERROR_CODES, type ErrorCode } from '../../error.ts';
import {
  NAME_CODE_POINTS_MAX,
  NEW_PET_FIELDS,
  type NewPet,
  PAGE_LIMIT_MAX,
  PET_STATUSES,
  type Pet,
  type PetStatus,
} from '../../pet.ts';
import type { ErrorBody } from '../errors.ts';

/** One that the regular expressions of all languages take. They disagree on white space: the parser decides. */
const NAME_PATTERN = '^[^\\x00]*[^\\s\\x00][^\\x00]*$';

const EXAMPLE_NEW_PET = { name: 'Rex', categoryId: 3, status: 'available' };
const EXAMPLE_PET = { id: 1, ...EXAMPLE_NEW_PET };

/** A reference to one of the components. */
function refTo<T>(name: string): TUnsafe<T> {
  return Type.Unsafe<T>({ $ref: `${name}#` });
}

export const int64 = (description: string, more: object = {}) =>
  Type.Unsafe<bigint>({ type: 'integer', format: 'int64', description, ...more });

const FIELD_SCHEMAS: Readonly<Record<keyof NewPet, TSchema>> = {
  name: Type.String({
    description: `The animal's name, kept as it was sent: 1 to ${NAME_CODE_POINTS_MAX} code points, not blank, without U+0000 and unpaired surrogates.`,
    minLength: 1,
    maxLength: NAME_CODE_POINTS_MAX,
    pattern: NAME_PATTERN,
  }),
  categoryId: int64('Identifier of the category the animal belongs to; exact over all of int64.'),
  status: refTo<PetStatus>('PetStatus'),
};

const newPetProperties = Object.fromEntries(
  NEW_PET_FIELDS.map(({ name, optional }) => [
    name,
    optional ? Type.Optional(FIELD_SCHEMAS[name]) : FIELD_SCHEMAS[name],
  ]),
);

export const COMPONENTS = [
  Type.Unsafe<PetStatus>({
    $id: 'PetStatus',
    type: 'string',
    enum: [...PET_STATUSES],
    description: 'Whether the pet can be bought. Absent when the client gave none.',
  }),
  Type.Object(newPetProperties, {
    $id: 'NewPet',
    description: 'A pet as a client sends it. Other members are ignored.',
    examples: [EXAMPLE_NEW_PET],
  }),
  Type.Object(
    {
      id: int64('Unique identifier, assigned by the service: counts up and is never used twice.'),
      ...newPetProperties,
    },
    { $id: 'Pet', description: 'A pet of the store.', examples: [EXAMPLE_PET] },
  ),
  Type.Array(refTo<Pet>('Pet'), {
    $id: 'Pets',
    description: 'Pets, by id, ascending.',
    maxItems: PAGE_LIMIT_MAX,
    examples: [[EXAMPLE_PET, { id: 2, name: 'Mia', categoryId: 7 }]],
  }),
  Type.Object(
    {
      code: Type.Unsafe<ErrorCode>({
        type: 'string',
        description: `Machine-readable error code. So far one of ${ERROR_CODES.join(', ')}.`,
      }),
      message: Type.String({ description: 'Human-readable description of the error.' }),
      status: Type.Integer({
        description: 'The HTTP status code.',
        minimum: 400,
        maximum: 599,
      }),
    },
    { $id: 'Error', description: 'The one shape of every error.' },
  ),
];

export const PetStatusRef = refTo<PetStatus>('PetStatus');
export const NewPetRef = refTo<unknown>('NewPet');
export const PetRef = refTo<Pet>('Pet');
export const PetsRef = refTo<readonly Pet[]>('Pets');
export const ErrorRef = refTo<ErrorBody>('Error');
