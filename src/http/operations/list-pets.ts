/** `GET /pets`: a page of the pets. */

import {
  LIST_ORDER,
  LIST_QUERY,
  type ListQuery,
  toQueryText,
  WRONG_LIMIT,
} from '../../pet-query.ts';
import { toSchema } from '../components.ts';
import { CURSOR_SCHEMA, createCursor, parseCursor } from '../cursor.ts';
import { defineOperation, type Parameter } from './operation.ts';

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
  description: `Returns a page of the pets, ${LIST_ORDER}. When there are more, a \`Link\` with \`rel="next"\` leads to the next page. An unknown parameter is a 400. \`_\`, and parameters of trackers such as \`utm_source\`, are ignored.`,
  parameters: {
    ...QUERY_PARAMETERS,
    cursor: {
      place: 'query',
      description:
        'Continues after the last pet of an earlier page. Opaque: take it from the `Link` with `rel="next"`.',
      isBeta: true,
      schema: CURSOR_SCHEMA,
      // The first page: a request with every example of the document is answered 200.
      example: createCursor(0n),
      parse: parseCursor,
    },
  },
  success: { status: 200, description: 'A page of animals.', schema: 'Pets', headers: ['Link'] },
  ofInterface: ['unauthorized'],
  others: [WRONG_LIMIT],

  async handle({ pets, base }, { cursor, ...query }, reply) {
    const { json, next } = await pets.listAsJson({ ...query, after: cursor });
    if (next !== undefined) {
      const asked = `${toQueryText(query)}&cursor=${createCursor(next)}`;
      reply.header('link', `<${base}/v1/pets?${asked}>; rel="next"`);
    }
    return json;
  },
});
