/** Each part of a request on pets, as it is documented and as it is parsed: the headers, query and path; a body is parsed by `pet.ts`. */

import { PetstoreError } from '../../error.ts';
import { findCanonicalInt64, INT64_MAX } from '../../int64.ts';
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, PAGE_LIMIT_MIN, parsePetStatus } from '../../pet.ts';
import { IDEMPOTENCY_MS, type PetQuery } from '../../store.ts';
import { CURSOR_CHARACTERS, CURSOR_PATTERN, createCursor, parseCursor } from '../cursor.ts';
import { createError } from '../errors.ts';
import { IDEMPOTENCY_KEY_CHARACTERS_MAX } from '../limits.ts';
import { refTo, type Schema } from './components.ts';
import { beta } from './responses.ts';

const IDEMPOTENCY_KEY = new RegExp(`^[!-~]{1,${IDEMPOTENCY_KEY_CHARACTERS_MAX}}$`);

/** What `limit` must be, as the answer to a wrong one says it. */
export const LIMIT_RULE = `limit must be given once, a whole number from ${PAGE_LIMIT_MIN} to ${PAGE_LIMIT_MAX}`;

type Place = 'header' | 'query' | 'path';

function describeParameter(
  place: Place,
  name: string,
  description: string,
  { example, ...schema }: Schema,
) {
  const value = example === undefined ? {} : { example };
  return { schema, ...value, in: place, name, required: place === 'path', description };
}

export const idempotencyKeyParameter = beta(
  describeParameter(
    'header',
    'Idempotency-Key',
    `Names this create, so that sending it again adds nothing: the same key with the same pet has the same answer for ${IDEMPOTENCY_MS / 3_600_000} h, with another pet it is a 422. Each API key has names of its own.`,
    {
      type: 'string',
      minLength: 1,
      maxLength: IDEMPOTENCY_KEY_CHARACTERS_MAX,
      pattern: '^[!-~]+$',
    },
  ),
);

/** @throws PetstoreError `bad_request` for a value that is none. */
export function findIdempotencyKey(value: unknown): string | undefined {
  // Two fields arrive joined by a comma and a space, which the pattern does not allow.
  if (value === undefined || (typeof value === 'string' && IDEMPOTENCY_KEY.test(value)))
    return value;
  throw new PetstoreError(
    'bad_request',
    `Idempotency-Key must be given once, 1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} visible ASCII characters`,
  );
}

export const listParameters = [
  describeParameter('query', 'limit', 'Maximum number of animals to return.', {
    type: 'integer',
    minimum: PAGE_LIMIT_MIN,
    maximum: PAGE_LIMIT_MAX,
    default: PAGE_LIMIT_DEFAULT,
  }),
  describeParameter('query', 'status', 'Filters by availability status.', refTo('PetStatus')),
  beta(
    describeParameter(
      'query',
      'cursor',
      'Continues after the last pet of an earlier page. Opaque: take it from the `Link` with `rel="next"`.',
      {
        type: 'string',
        maxLength: CURSOR_CHARACTERS,
        pattern: CURSOR_PATTERN,
        // Of the first page: a request with every example of the document is answered 200.
        example: createCursor(0n),
      },
    ),
  ),
];

/** @throws PetstoreError `bad_request`, whose message names the parameter that is wrong. */
export function parseListQuery(value: unknown): PetQuery {
  const { limit, status, cursor } = value as Record<string, unknown>;
  return {
    limit: limit === undefined ? PAGE_LIMIT_DEFAULT : parseLimit(limit),
    ...(status !== undefined && { status: parsePetStatus(status) }),
    ...(cursor !== undefined && { after: parseCursor(cursor) }),
  };
}

function parseLimit(value: unknown): number {
  const limit = typeof value === 'string' && /^[1-9]\d{0,2}$/.test(value) ? Number(value) : 0;
  if (limit < PAGE_LIMIT_MIN || limit > PAGE_LIMIT_MAX) {
    throw new PetstoreError('bad_request', LIMIT_RULE);
  }
  return limit;
}

export const petIdParameter = describeParameter(
  'path',
  'petId',
  'Identifier of the animal to retrieve.',
  { type: 'integer', format: 'int64', minimum: 1, maximum: INT64_MAX, example: 1 },
);

/** @throws PetstoreError `not_found` for what is no id: there is no pet with it. */
export function parsePetId(text: string): bigint {
  const petId = findCanonicalInt64(text);
  if (petId === undefined) throw createError('not_found');
  return petId;
}
