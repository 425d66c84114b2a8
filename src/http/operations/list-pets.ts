/** `GET /pets`: a page of the pets. */

import { PetstoreError } from '../../error.ts';
import {
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  PET_FILTERS,
  type PetFilter,
  type PetFilters,
  parseFieldText,
  toFilterQuery,
} from '../../pet.ts';
import { toSchema } from '../components.ts';
import { defineOperation, type Parameter } from './operation.ts';

/** A cursor is the id of the last pet of a page, in base64url: 64 bits, whose sign bit is 0, and two bits left over. */
const CURSOR_PATTERN = '^[A-Za-f][A-Za-z0-9_-]{9}[AEIMQUYcgkosw048]$';
const CURSOR = new RegExp(CURSOR_PATTERN);

const LIMIT_RULE = `limit must be a whole number from 1 to ${PAGE_LIMIT_MAX}`;
const WRONG_LIMIT = new PetstoreError('bad_request', LIMIT_RULE);

const FILTER_PARAMETERS = Object.fromEntries(
  PET_FILTERS.map((filter) => [filter.name, toParameter(filter)]),
) as { readonly [Name in keyof PetFilters]-?: Parameter<PetFilters[Name]> };

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
      description: 'Maximum number of animals to return.',
      schema: {
        type: 'integer',
        minimum: 1,
        maximum: PAGE_LIMIT_MAX,
        default: PAGE_LIMIT_DEFAULT,
      },
      parse: parseLimit,
    },
    ...FILTER_PARAMETERS,
    cursor: {
      place: 'query',
      description:
        'Continues after the last pet of an earlier page. Opaque: take it from the `Link` with `rel="next"`.',
      isBeta: true,
      schema: { type: 'string', maxLength: 11, pattern: CURSOR_PATTERN },
      // The first page: a request with every example of the document is answered 200.
      example: createCursor(0n),
      parse: parseCursor,
    },
  },
  success: {
    status: 200,
    description: 'A page of animals.',
    schema: 'Pets',
    headers: ['Link'],
  },
  errors: [WRONG_LIMIT],

  async handle({ pets, base }, { cursor, ...query }, reply) {
    const { json, next } = await pets.listAsJson({ ...query, after: cursor });
    if (next !== undefined) {
      const asked = `limit=${query.limit}${toFilterQuery(query)}&cursor=${createCursor(next)}`;
      reply.header('link', `<${base}/v1/pets?${asked}>; rel="next"`);
    }
    return json;
  },
});

function toParameter(filter: PetFilter): Parameter<unknown> {
  return {
    place: 'query',
    description: filter.description,
    schema: toSchema(filter),
    parse: (value) => (value === undefined ? undefined : parseFieldText(filter, value)),
  };
}

function parseLimit(value: string | undefined): number {
  if (value === undefined) return PAGE_LIMIT_DEFAULT;
  if (/^[1-9]\d{0,2}$/.test(value) && Number(value) <= PAGE_LIMIT_MAX) return Number(value);
  throw WRONG_LIMIT;
}

export function createCursor(after: bigint): string {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64BE(after);
  return bytes.toString('base64url');
}

function parseCursor(value: string | undefined): bigint | undefined {
  if (value === undefined) return undefined;
  if (CURSOR.test(value)) return Buffer.from(value, 'base64url').readBigInt64BE();
  throw new PetstoreError('bad_request', 'cursor must be the unchanged cursor of a Link');
}
