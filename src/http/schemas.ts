/** What requests and answers look like: each schema documents its part, and carries the parser that judges it. */

import type { FastifySchema, FastifySchemaCompiler, FastifyTypeProvider } from 'fastify';
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';
import { ERROR_CODES, type ErrorCode, PetstoreError } from '../error.ts';
import { findCanonicalInt64 } from '../int64.ts';
import {
  NAME_CODE_POINTS_MAX,
  NAME_PATTERN,
  type NewPet,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  PAGE_LIMIT_MIN,
  PET_STATUSES,
  type Pet,
  type PetStatus,
  parseNewPet,
  parsePetStatus,
} from '../pet.ts';
import { IDEMPOTENCY_MS, type PetQuery } from '../store.ts';
import { CURSOR_PATTERN, parseCursor } from './cursor.ts';
import { parseBody } from './protocol/body.ts';
import { refuse } from './refusals.ts';

const PARSE = Symbol('parse');

/** A schema with the parser of what it describes: a JSON Schema alone cannot judge an int64's digits. */
type Parsed<T> = TSchema & { readonly [PARSE]: (value: unknown) => T };

function parsedBy<T>(parse: (value: unknown) => T, schema: TSchema): Parsed<T> {
  return Object.assign(schema, { [PARSE]: parse });
}

/** Types each part of a request as its parser's result, and each answer as its schema. */
export interface PetstoreTypeProvider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends Parsed<infer T> ? T : unknown;
  readonly serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

/** Lets Fastify judge each part of a request by the parser of its schema. */
export const compileValidator: FastifySchemaCompiler<FastifySchema & Partial<Parsed<unknown>>> = ({
  schema,
}) => {
  const parse = schema[PARSE];
  if (parse === undefined) throw new Error('the schema of a request carries no parser');
  return (value: unknown) => {
    try {
      return { value: parse(value) };
    } catch (error) {
      return { error: error as Error };
    }
  };
};

/** A reference to a schema of the document's components. */
function refTo<T>(name: string): TUnsafe<T> {
  return Type.Unsafe<T>({ $ref: `${name}#` });
}

const IDEMPOTENCY_KEY_CHARACTERS_MAX = 255;
const IDEMPOTENCY_KEY = new RegExp(`^[!-~]{1,${IDEMPOTENCY_KEY_CHARACTERS_MAX}}$`);

const EXAMPLE_NEW_PET = { name: 'Rex', categoryId: 3, status: 'available' };
const EXAMPLE_PET = { id: 1, ...EXAMPLE_NEW_PET };

const int64 = (description: string) =>
  Type.Unsafe<bigint>({ type: 'integer', format: 'int64', description });

const newPetFields = {
  name: Type.String({
    description: `The animal's name, kept as it was sent: 1 to ${NAME_CODE_POINTS_MAX} code points, not blank, without U+0000 and unpaired surrogates.`,
    minLength: 1,
    maxLength: NAME_CODE_POINTS_MAX,
    pattern: NAME_PATTERN,
  }),
  categoryId: int64('Identifier of the category the animal belongs to; exact over all of int64.'),
  status: Type.Optional(refTo<PetStatus>('PetStatus')),
};

/** The schemas that the document names, as in the interface. */
export const COMPONENTS = [
  Type.Unsafe<PetStatus>({
    $id: 'PetStatus',
    type: 'string',
    enum: [...PET_STATUSES],
    description: 'Whether the animal can be bought. Absent when nobody said.',
  }),
  Type.Object(newPetFields, {
    $id: 'NewPet',
    description: 'What a client says of an animal. Other members are ignored.',
    examples: [EXAMPLE_NEW_PET],
  }),
  Type.Object(
    {
      id: int64('Unique identifier, assigned by the service: counts up and is never used twice.'),
      ...newPetFields,
    },
    { $id: 'Pet', description: 'An animal of the store.', examples: [EXAMPLE_PET] },
  ),
  Type.Array(refTo<Pet>('Pet'), {
    $id: 'Pets',
    description: 'Animals, by id, ascending.',
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

export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
}

export const PetSchema = refTo<Pet>('Pet');
export const PetsSchema = refTo<readonly Pet[]>('Pets');
export const ErrorSchema = refTo<ErrorBody>('Error');
export const NewPetSchema = parsedBy<NewPet>(
  (bytes) => parseNewPet(parseBody(bytes)),
  Type.Unsafe({ $ref: 'NewPet#' }),
);

/** The query of `GET /pets`. */
export const ListQuerySchema = parsedBy<PetQuery>(
  parseListQuery,
  Type.Object({
    limit: Type.Optional(
      Type.Integer({
        description: 'Maximum number of animals to return.',
        minimum: PAGE_LIMIT_MIN,
        maximum: PAGE_LIMIT_MAX,
        default: PAGE_LIMIT_DEFAULT,
      }),
    ),
    status: Type.Optional(
      Type.Unsafe<PetStatus>({
        // Not a $ref: @fastify/swagger drops the description beside one.
        type: 'string',
        enum: [...PET_STATUSES],
        description: 'Filters by availability status.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        description:
          'Carries on after the last animal of an earlier page. Opaque: take it from the `Link` with `rel="next"`.',
        pattern: CURSOR_PATTERN,
        'x-stability': 'beta',
      }),
    ),
  }),
);

/** The headers of `POST /pets`. */
export const CreateHeadersSchema = parsedBy<CreateHeaders>(
  parseCreateHeaders,
  Type.Object({
    'Idempotency-Key': Type.Optional(
      Type.String({
        description: `Names this create, so that sending it again adds nothing: the same key with the same animal has the same answer for ${IDEMPOTENCY_MS / 3_600_000} h, with another animal it is a 422. Each API key has names of its own.`,
        minLength: 1,
        maxLength: IDEMPOTENCY_KEY_CHARACTERS_MAX,
        pattern: '^[!-~]+$',
        'x-stability': 'beta',
      }),
    ),
  }),
);

/** The path of `GET /pets/{petId}`. */
export const PetPathSchema = parsedBy<{ readonly petId: bigint }>(
  parsePetPath,
  Type.Object({ petId: int64('Identifier of the animal to retrieve.') }),
);

function parseListQuery(value: unknown): PetQuery {
  const { limit, status, cursor } = value as Record<string, unknown>;
  return {
    limit: limit === undefined ? PAGE_LIMIT_DEFAULT : parseLimit(limit),
    ...(status !== undefined && { status: parsePetStatus(status) }),
    ...(cursor !== undefined && { after: parseCursor(cursor) }),
  };
}

interface CreateHeaders {
  readonly 'idempotency-key'?: string;
}

function parseCreateHeaders(value: unknown): CreateHeaders {
  const key = (value as Record<string, unknown>)['idempotency-key'];
  if (key === undefined) return {};
  // Two fields arrive joined by a comma and a space, and are no key.
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return { 'idempotency-key': key };
  throw new PetstoreError(
    'bad_request',
    `Idempotency-Key must be given once, 1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} visible ASCII characters`,
  );
}

/** What `limit` must be. */
export const LIMIT_RULE = `limit must be given once, a whole number from ${PAGE_LIMIT_MIN} to ${PAGE_LIMIT_MAX}`;

function parseLimit(value: unknown): number {
  const limit = typeof value === 'string' && /^[1-9]\d{0,2}$/.test(value) ? Number(value) : 0;
  if (limit < PAGE_LIMIT_MIN || limit > PAGE_LIMIT_MAX) {
    throw new PetstoreError('bad_request', LIMIT_RULE);
  }
  return limit;
}

function parsePetPath(value: unknown): { petId: bigint } {
  const petId = findCanonicalInt64((value as { petId: string }).petId);
  if (petId === undefined) throw refuse('not_found');
  return { petId };
}
