/** The named schemas of the document, as in the interface: PetStatus, NewPet, Pet, Pets, Error. */

import { ERRORS } from '../error.ts';
import { ID, NEW_PET_FIELDS } from '../pet.ts';
import type { JsonSchema } from '../pet-field.ts';
import { LIST_ORDER, PAGE_LIMIT_MAX } from '../pet-query.ts';
import type { ErrorBody } from './error-answers.ts';

const EXAMPLE_NEW_PET = { name: 'Rex', categoryId: 3, status: 'available' };
const EXAMPLE_PET = { id: 1, ...EXAMPLE_NEW_PET };

export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

export const toSchema = ({ schema, schemaName }: { schema: JsonSchema; schemaName?: string }) =>
  schemaName === undefined ? schema : refTo(schemaName);

const PROPERTIES = Object.fromEntries(NEW_PET_FIELDS.map((field) => [field.name, toSchema(field)]));
const REQUIRED = NEW_PET_FIELDS.filter(({ optional }) => !optional).map(({ name }) => name);

export const COMPONENTS = {
  // Without a type, so that the names of the others have theirs.
  ...(Object.fromEntries(
    NEW_PET_FIELDS.flatMap(({ schemaName, schema }) => (schemaName ? [[schemaName, schema]] : [])),
  ) as object),
  NewPet: {
    type: 'object',
    required: REQUIRED,
    properties: PROPERTIES,
    description: 'A pet as a client sends it. Other members are ignored.',
    example: EXAMPLE_NEW_PET,
  },
  Pet: {
    type: 'object',
    required: ['id', ...REQUIRED],
    properties: { id: ID.schema, ...PROPERTIES },
    description: 'A pet of the store. `status` is absent when the client gave none.',
    example: EXAMPLE_PET,
  },
  Pets: {
    type: 'array',
    items: refTo('Pet'),
    maxItems: PAGE_LIMIT_MAX,
    description: `Pets, ${LIST_ORDER}.`,
    example: [EXAMPLE_PET, { id: 2, name: 'Mia', categoryId: 7 }],
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
      status: { type: 'integer', description: 'The HTTP status code.', minimum: 400, maximum: 599 },
    } satisfies Record<keyof ErrorBody, JsonSchema>,
    description: 'The one shape of every error.',
  },
};

export type ComponentName = Exclude<keyof typeof COMPONENTS, 'Error'>;
