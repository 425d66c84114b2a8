/** The schema and the parser of each part of a request: the body, query, headers and path of the operations on pets. */

import { PetstoreError } from '../../error.ts';
import { findCanonicalInt64, INT64_MAX } from '../../int64.ts';
import {
  type NewPet,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  PAGE_LIMIT_MIN,
  parseNewPet,
  parsePetStatus,
} from '../../pet.ts';
import { IDEMPOTENCY_MS, type PetQuery } from '../../store.ts';
import { CURSOR_CHARACTERS, CURSOR_PATTERN, createCursor, parseCursor } from '../cursor.ts';
import { createError } from '../errors.ts';
import { parseBody } from '../protocol/body.ts';
import { int64, NewPetRef, PetStatusRef } from './components.ts';
import { parsedBy } from './parsed-schema.ts';

const IDEMPOTENCY_KEY_CHARACTERS_MAX = 255;
const IDEMPOTENCY_KEY = new RegExp(`^[!-~]{1,${IDEMPOTENCY_KEY_CHARACTERS_MAX}}$`);

/** What `limit` must be, as the answer to a wrong one says it. */
export const LIMIT_RULE = `limit must be given once, a whole number from ${PAGE_LIMIT_MIN} to ${PAGE_LIMIT_MAX}`;

/** The body of `POST /pets`. */
export const CreateBody = parsedBy<NewPet>((bytes) => parseNewPet(parseBody(bytes)), NewPetRef);

/** The headers of `POST /pets`. */
export const CreateHeaders = parsedBy<{ readonly 'idempotency-key'?: string }>(parseCreateHeaders, {
  type: 'object',
  properties: {
    'Idempotency-Key': {
      type: 'string',
      description: `Names this create, so that sending it again adds nothing: the same key with the same pet has the same answer for ${IDEMPOTENCY_MS / 3_600_000} h, with another pet it is a 422. Each API key has names of its own.`,
      minLength: 1,
      maxLength: IDEMPOTENCY_KEY_CHARACTERS_MAX,
      pattern: '^[!-~]+$',
      'x-stability': 'beta',
    },
  },
});

/** The query of `GET /pets`. */
export const ListQuery = parsedBy<PetQuery>(parseListQuery, {
  type: 'object',
  properties: {
    limit: {
      type: 'integer',
      description: 'Maximum number of animals to return.',
      minimum: PAGE_LIMIT_MIN,
      maximum: PAGE_LIMIT_MAX,
      default: PAGE_LIMIT_DEFAULT,
    },
    status: {
      allOf: [PetStatusRef],
      description: 'Filters by availability status.',
    },
    cursor: {
      type: 'string',
      description:
        'Continues after the last pet of an earlier page. Opaque: take it from the `Link` with `rel="next"`.',
      maxLength: CURSOR_CHARACTERS,
      pattern: CURSOR_PATTERN,
      // Of the first page: a request with every example of the document is answered 200.
      examples: [createCursor(0n)],
      'x-stability': 'beta',
    },
  },
});

/** The path of `GET /pets/{petId}`. */
export const PetPath = parsedBy<{ readonly petId: bigint }>(parsePetPath, {
  type: 'object',
  properties: {
    petId: {
      ...int64('Identifier of the animal to retrieve.'),
      minimum: 1,
      maximum: INT64_MAX,
      examples: [1],
    },
  },
});

function parseCreateHeaders(value: unknown): { 'idempotency-key'?: string } {
  const key = (value as Record<string, unknown>)['idempotency-key'];
  if (key === undefined) return {};
  // Two fields arrive joined by a comma and a space, which the pattern does not allow.
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return { 'idempotency-key': key };
  throw new PetstoreError(
    'bad_request',
    `Idempotency-Key must be given once, 1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} visible ASCII characters`,
  );
}

function parseListQuery(value: unknown): PetQuery {
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

function parsePetPath(value: unknown): { petId: bigint } {
  const petId = findCanonicalInt64((value as { petId: string }).petId);
  if (petId === undefined) throw createError('not_found');
  return { petId };
}
