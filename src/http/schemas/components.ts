/** The schemas that the document names (its components), as in the interface: PetStatus, NewPet, Pet, Pets, Error. */

import { ERRORS } from '../../error.ts';
import {
  NAME_CODE_POINTS_MAX,
  NEW_PET_FIELDS,
  type NewPet,
  PAGE_LIMIT_MAX,
  PET_STATUSES,
} from '../../pet.ts';
import type { ErrorBody } from '../errors.ts';

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** One that the regular expressions of all languages take. They disagree on white space: the parser decides. */
const NAME_PATTERN = '^[^\\x00]*[^\\s\\x00][^\\x00]*$';

const EXAMPLE_NEW_PET = { name: 'Rex', categoryId: 3, status: 'available' };
const EXAMPLE_PET = { id: 1, ...EXAMPLE_NEW_PET };

/** A reference to one of the components. */
export const refTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

export const int64 = (description: string) => ({ type: 'integer', format: 'int64', description });

const FIELD_SCHEMAS: Readonly<Record<keyof NewPet, Schema>> = {
  name: {
    type: 'string',
    description: `The animal's name, kept as it was sent: 1 to ${NAME_CODE_POINTS_MAX} code points, not blank, without U+0000 and unpaired surrogates.`,
    minLength: 1,
    maxLength: NAME_CODE_POINTS_MAX,
    pattern: NAME_PATTERN,
  },
  categoryId: int64('Identifier of the category the animal belongs to; exact over all of int64.'),
  status: refTo('PetStatus'),
};

const REQUIRED = NEW_PET_FIELDS.filter(({ optional }) => !optional).map(({ name }) => name);

export const COMPONENTS = {
  PetStatus: {
    type: 'string',
    enum: PET_STATUSES,
    description: 'Whether the pet can be bought.',
  },
  NewPet: {
    type: 'object',
    required: REQUIRED,
    properties: FIELD_SCHEMAS,
    description: 'A pet as a client sends it. Other members are ignored.',
    examples: [EXAMPLE_NEW_PET],
  },
  Pet: {
    type: 'object',
    required: ['id', ...REQUIRED],
    properties: {
      id: int64('Unique identifier, assigned by the service: counts up and is never used twice.'),
      ...FIELD_SCHEMAS,
    },
    description: 'A pet of the store. `status` is absent when the client gave none.',
    examples: [EXAMPLE_PET],
  },
  Pets: {
    type: 'array',
    items: refTo('Pet'),
    description: 'Pets, by id, ascending.',
    maxItems: PAGE_LIMIT_MAX,
    examples: [[EXAMPLE_PET, { id: 2, name: 'Mia', categoryId: 7 }]],
  },
  Error: {
    type: 'object',
    required: ['code', 'message', 'status'],
    properties: {
      code: {
        type: 'string',
        description: `Machine-readable error code. So far one of ${Object.keys(ERRORS).join(', ')}.`,
      },
      message: { type: 'string', description: 'Human-readable description of the error.' },
      status: {
        type: 'integer',
        description: 'The HTTP status code.',
        minimum: 400,
        maximum: 599,
      },
    } satisfies Record<keyof ErrorBody, Schema>,
    description: 'The one shape of every error.',
  },
};
