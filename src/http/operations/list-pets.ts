/** `GET /pets`: a page of the pets. */

import { PetstoreError } from '../../error.ts';
import { LIST_QUERY, type ListQuery, toQueryText, WRONG_LIMIT } from '../../pet-query.ts';
import { toSchema } from '../components.ts';
import { defineOperation, type Parameter } from './operation.ts';

/**
 * A cursor is the id of the last pet of a page: its 64 bits in base64url. The first bit of an id is 0, so the first
 * character is `A` to `f`. The last two bits of the 11 characters are not used, so the last character is one of 16.
 */
const CURSOR_PATTERN = '^[A-Za-f][A-Za-z0-9_-]{9}[AEIMQUYcgkosw048]$';
const CURSOR = new RegExp(CURSOR_PATTERN);

/** The members of the query that stay the same for all pages. The cursor is the place of a page. */
const QUERY_PARAMETERS = Object.fromEntries(
  LIST_QUERY.map(({ name, parse, ...member }): [string, Parameter<unknown>] => {
    const { description, example } = member;
    const schema = toSchema(member);
    const usual = member.schema.default;
    const parameter = { place: 'query', description, schema, example } as const;
    return [name, { ...parameter, parse: (text) => (text === undefined ? usual : parse(text)) }];
  }),
) as { readonly [Name in keyof ListQuery]-?: Parameter<ListQuery[Name]> };

export const listPets = defineOperation({
  method: 'GET',
  path: '/pets',
  operationId: 'listPets',
  summary: 'List animals',
  description:
    'Returns a page of the pets, by id, ascending. When there are more, a `Link` with `rel="next"` leads to the next page.',
  parameters: {
    ...QUERY_PARAMETERS,
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
  declared: ['unauthorized'],
  errors: [WRONG_LIMIT],

  async handle({ pets, base }, { cursor, ...query }, reply) {
    const { json, next } = await pets.listAsJson({ ...query, after: cursor });
    if (next !== undefined) {
      const asked = `${toQueryText(query)}&cursor=${createCursor(next)}`;
      reply.header('link', `<${base}/v1/pets?${asked}>; rel="next"`);
    }
    return json;
  },
});

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
