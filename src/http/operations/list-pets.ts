/** `GET /pets`: a page of the pets. */

import { PetstoreError } from '../../error.ts';
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, PAGE_LIMIT_MIN, parsePetStatus } from '../../pet.ts';
import { CURSOR_CHARACTERS, CURSOR_PATTERN, createCursor, parseCursor } from '../cursor.ts';
import { refTo } from '../schemas/components.ts';
import { beta, describeLink } from '../schemas/responses.ts';
import { defineOperation } from './operation.ts';

const LIMIT_RULE = `limit must be given once, a whole number from ${PAGE_LIMIT_MIN} to ${PAGE_LIMIT_MAX}`;

export const listPets = defineOperation({
  method: 'GET',
  path: '/pets',
  operationId: 'listPets',
  summary: 'List animals',
  description:
    'Returns a page of the pets, by id, ascending. When there are more, a `Link` with `rel="next"` leads to the next page.',
  parameters: {
    limit: {
      place: 'query',
      name: 'limit',
      description: 'Maximum number of animals to return.',
      schema: {
        type: 'integer',
        minimum: PAGE_LIMIT_MIN,
        maximum: PAGE_LIMIT_MAX,
        default: PAGE_LIMIT_DEFAULT,
      },
      parse: parseLimit,
    },
    status: {
      place: 'query',
      name: 'status',
      description: 'Filters by availability status.',
      schema: refTo('PetStatus'),
      parse: (value) => (value === undefined ? undefined : parsePetStatus(value)),
    },
    after: {
      place: 'query',
      name: 'cursor',
      description:
        'Continues after the last pet of an earlier page. Opaque: take it from the `Link` with `rel="next"`.',
      isBeta: true,
      schema: { type: 'string', maxLength: CURSOR_CHARACTERS, pattern: CURSOR_PATTERN },
      // Of the first page: a request with every example of the document is answered 200.
      example: createCursor(0n),
      parse: (value) => (value === undefined ? undefined : parseCursor(value)),
    },
  },
  success: {
    status: 200,
    description: 'A page of animals.',
    schema: 'Pets',
    headers: {
      Link: beta(
        describeLink('The next page, with `rel="next"` (RFC 8288); absent on the last one.'),
      ),
    },
  },
  errors: [{ code: 'bad_request', message: LIMIT_RULE }],

  async handle({ pets, base }, query, reply) {
    const { json, next } = await pets.listAsJson(query);
    if (next !== undefined) {
      const { limit, status } = query;
      // Digits, a status and base64url: none of them needs a percent-escape.
      const filter = status === undefined ? '' : `&status=${status}`;
      const address = `${base}/v1/pets?limit=${limit}${filter}&cursor=${createCursor(next)}`;
      reply.header('link', `<${address}>; rel="next"`);
    }
    return json;
  },
});

function parseLimit(value: unknown): number {
  if (value === undefined) return PAGE_LIMIT_DEFAULT;
  const limit = typeof value === 'string' && /^[1-9]\d{0,2}$/.test(value) ? Number(value) : 0;
  if (limit >= PAGE_LIMIT_MIN && limit <= PAGE_LIMIT_MAX) return limit;
  throw new PetstoreError('bad_request', LIMIT_RULE);
}
