/** The three operations of the interface, under `/v1`. */

import type { HookHandlerDoneFunction as Done, FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { ErrorCode } from '../../error.ts';
import type { JsonPage, PetQuery, Store } from '../../store.ts';
import { createCursor } from '../cursor.ts';
import { errorResponse } from '../errors.ts';
import { requireJson } from '../protocol/body.ts';
import { continueBody } from '../protocol/connection.ts';
import { refuse } from '../refusals.ts';
import {
  CreateHeadersSchema,
  LIMIT_RULE,
  ListQuerySchema,
  NewPetSchema,
  PetPathSchema,
  PetSchema,
  PetsSchema,
  type PetstoreTypeProvider,
} from '../schemas.ts';

/** `getPet` is deprecated since this product's release (RFC 9745) and goes on 5 December 2030 (RFC 8594). */
const DEPRECATED_SECONDS = Date.UTC(2026, 10, 21) / 1000;
export const SUNSET = new Date(Date.UTC(2030, 11, 5));
const REMINDER_MS_MIN = 24 * 60 * 60 * 1000;

export interface PetRoutesOptions {
  readonly store: Store;
  /** What stands before `/v1` in links: empty, or the outside address of the service. */
  readonly base: string;
  readonly isGetPetRetired: boolean;
  readonly now: () => number;
}

/** Adds the operations, relative to the prefix they are registered with. */
export const petRoutes: FastifyPluginAsync<PetRoutesOptions> = async (scope, options) => {
  const app = scope.withTypeProvider<PetstoreTypeProvider>();
  const pets = `${options.base}/v1/pets`;
  const { store } = options;
  /** A page that is kept has its link kept too. */
  const links = new WeakMap<JsonPage, string>();

  function findLink(page: JsonPage, query: PetQuery): string | undefined {
    if (page.next === undefined) return undefined;
    const kept = links.get(page);
    if (kept !== undefined) return kept;
    const link = `<${pets}?${toNextQuery(query, page.next)}>; rel="next"`;
    links.set(page, link);
    return link;
  }

  app.route({
    method: 'GET',
    url: '/pets',
    schema: {
      operationId: 'listPets',
      summary: 'List animals',
      description:
        'Returns a page of the animals, by id, ascending. When there are more, a `Link` with `rel="next"` leads to the next page.',
      tags: ['animals'],
      querystring: ListQuerySchema,
      response: {
        200: {
          ...PetsSchema,
          description: 'A page of animals.',
          headers: {
            Link: {
              type: 'string',
              description: 'The next page, with `rel="next"` (RFC 8288); absent on the last one.',
              'x-stability': 'beta',
            },
          },
        },
        401: unauthorized,
        default: otherErrors(['bad_request', 'headers_too_large', 'request_timeout'], {
          bad_request: LIMIT_RULE,
        }),
      },
    },
    handler({ query }, reply) {
      const answer = (page: JsonPage) => {
        const link = findLink(page, query);
        if (link !== undefined) reply.header('link', link);
        reply.type('application/json');
        // Text that is JSON already is sent as it is.
        return page.json as never;
      };
      const page = store.pets.listJson(query);
      return page instanceof Promise ? page.then(answer) : answer(page);
    },
  });

  app.route({
    method: 'POST',
    url: '/pets',
    onRequest: requireJson,
    preParsing: continueBody,
    schema: {
      operationId: 'createPet',
      summary: 'Add an animal',
      description: 'Adds an animal. It is on the disk before the answer is sent.',
      tags: ['animals'],
      headers: CreateHeadersSchema,
      body: NewPetSchema,
      response: {
        201: {
          ...PetSchema,
          description: 'Animal added. The body carries the assigned `id`.',
          headers: {
            Location: { type: 'string', description: 'Where the animal is.' },
          },
        },
        400: errorResponse(
          'The body is missing required fields or has invalid values.',
          ['bad_request'],
          { bad_request: 'name is required' },
        ),
        401: unauthorized,
        default: otherErrors([
          'payload_too_large',
          'unsupported_media_type',
          'idempotency_key_reused',
          'headers_too_large',
          'request_timeout',
        ]),
      },
    },
    links: {
      201: {
        getPet: {
          operationId: 'getPet',
          parameters: { petId: '$response.body#/id' },
          description: 'The animal that was added.',
        },
      },
    },
    async handler({ body, keyId, headers: { 'idempotency-key': key } }, reply) {
      const pet =
        key === undefined || keyId === null
          ? await store.pets.add(body)
          : await store.pets.addOnce(body, { keyId, key, at: options.now() });
      reply.code(201).header('location', `${pets}/${pet.id}`);
      return pet;
    },
  });

  app.route({
    method: 'GET',
    url: '/pets/:petId',
    schema: {
      operationId: 'getPet',
      summary: 'Get an animal',
      description:
        'Deprecated: it is to be removed on 5 December 2030. Use `GET /pets` with the `status` filter instead.',
      deprecated: true,
      'x-deprecated-sunset': SUNSET.toISOString().slice(0, 10),
      tags: ['animals'],
      params: PetPathSchema,
      response: {
        200: { ...PetSchema, description: 'The requested animal.', headers: deprecationHeaders },
        401: unauthorized,
        404: errorResponse('The requested resource could not be found.', ['not_found']),
        default: otherErrors(['gone', 'headers_too_large', 'request_timeout']),
      },
    },
    onRequest: createDeprecation(app, options),
    async handler({ params }) {
      const pet = await store.pets.find(params.petId);
      if (pet === undefined) throw refuse('not_found');
      return pet;
    },
  });
};

const unauthorized = {
  ...errorResponse('Missing or invalid API key.', ['unauthorized']),
  headers: {
    'WWW-Authenticate': { type: 'string', description: 'The challenge (RFC 6750 section 3).' },
  },
};

const deprecationHeaders = {
  Deprecation: { type: 'string', description: 'Since when it is deprecated (RFC 9745).' },
  Sunset: { type: 'string', description: 'When it is to be removed (RFC 8594).' },
  Link: { type: 'string', description: 'The documentation, with `rel="deprecation"`.' },
};

/** The one answer for the statuses that the interface does not declare for an operation. */
function otherErrors(codes: readonly ErrorCode[], messages?: Partial<Record<ErrorCode, string>>) {
  const all = [...codes, 'internal_error', 'unavailable'] as const;
  return errorResponse('Any other error; an example of each is here.', all, messages);
}

/** None of it needs escaping. */
function toNextQuery({ limit, status }: PetQuery, next: bigint): string {
  const filter = status === undefined ? '' : `&status=${status}`;
  return `limit=${limit}${filter}&cursor=${createCursor(next)}`;
}

/** The hook of the deprecated operation: says so in headers, and refuses once the operator retired it. */
function createDeprecation(app: FastifyInstance, { base, isGetPetRetired, now }: PetRoutesOptions) {
  const headers = {
    deprecation: `@${DEPRECATED_SECONDS}`,
    sunset: SUNSET.toUTCString(),
    link: `<${base}/docs>; rel="deprecation"; type="text/html"`,
  };
  let remindedAt = 0;

  return (_request: unknown, reply: { headers(values: typeof headers): unknown }, done: Done) => {
    reply.headers(headers);
    if (isGetPetRetired) {
      throw refuse('gone');
    }
    if (now() >= SUNSET.getTime() && now() - remindedAt >= REMINDER_MS_MIN) {
      remindedAt = now();
      app.petstoreLog.warn(
        'GET /v1/pets/{petId} is past its sunset and still called: --retire-get-pet removes it',
      );
    }
    done();
  };
}
