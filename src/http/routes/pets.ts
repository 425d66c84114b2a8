/** The three operations of the interface, under `/v1`: listPets, createPet, getPet. */

import type {
  HookHandlerDoneFunction as Done,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
} from 'fastify';
import { IDEMPOTENT_PET_REMOVED } from '../../error.ts';
import type { PetQuery, Store } from '../../store.ts';
import { createCursor } from '../cursor.ts';
import { createError } from '../errors.ts';
import { createDeprecation, type DeprecationOptions, SUNSET } from '../hooks/deprecation.ts';
import { requireJson, send100Continue } from '../protocol/body.ts';
import { PetRef, PetsRef } from '../schemas/components.ts';
import type { PetstoreTypeProvider } from '../schemas/parsed-schema.ts';
import { CreateBody, CreateHeaders, LIMIT_RULE, ListQuery, PetPath } from '../schemas/requests.ts';
import {
  commonHeaders,
  deprecationHeaders,
  errorResponse,
  LINK_CHARACTERS_MAX,
  otherErrors,
  text,
  unauthorized,
} from '../schemas/responses.ts';

export interface PetRoutesOptions extends DeprecationOptions {
  readonly store: Store;
}

/** Adds the operations, relative to the prefix they are registered with. */
export const petRoutes: FastifyPluginAsync<PetRoutesOptions> = async (scope, options) => {
  const app = scope.withTypeProvider<PetstoreTypeProvider>();
  const url = `${options.base}/v1/pets`;
  const { pets } = options.store;
  app.route({
    method: 'GET',
    url: '/pets',
    schema: listPets,
    async handler({ query }, reply) {
      const { json, next } = await pets.listAsJson(query);
      if (next !== undefined) {
        reply.header('link', `<${url}?${toNextQuery(query, next)}>; rel="next"`);
      }
      reply.type('application/json');
      // Fastify sends a string as it is, without serializing it again.
      return json as never;
    },
  });

  app.route({
    method: 'POST',
    url: '/pets',
    onRequest: [requireWritable, requireJson],
    preParsing: send100Continue,
    schema: createPet,
    links: createPetLinks,
    async handler({ body, keyId, headers: { 'idempotency-key': key } }, reply) {
      const { pet, isReplay } =
        key === undefined || keyId === null
          ? { pet: await pets.add(body), isReplay: false }
          : await pets.addOnce(body, { keyId, key, at: options.now() });
      reply.code(201).header('location', `${url}/${pet.id}`);
      if (isReplay) reply.header('idempotency-replayed', 'true');
      return pet;
    },
  });

  app.route({
    method: 'GET',
    url: '/pets/:petId',
    schema: getPet,
    onRequest: createDeprecation(app.petstoreLog, options),
    async handler({ params }) {
      const pet = await pets.find(params.petId);
      if (pet === undefined) throw createError('not_found');
      return pet;
    },
  });
};

/** Refuses a key that may not add pets, before the body is looked at. */
function requireWritable({ isReadOnly }: FastifyRequest, _reply: FastifyReply, done: Done): void {
  done(isReadOnly ? createError('forbidden') : undefined);
}

/** Digits, a status and base64url: none of them needs a percent-escape. */
function toNextQuery({ limit, status }: PetQuery, next: bigint): string {
  const filter = status === undefined ? '' : `&status=${status}`;
  return `limit=${limit}${filter}&cursor=${createCursor(next)}`;
}

const listPets = {
  operationId: 'listPets',
  summary: 'List animals',
  description:
    'Returns a page of the pets, by id, ascending. When there are more, a `Link` with `rel="next"` leads to the next page.',
  tags: ['animals'],
  querystring: ListQuery,
  response: {
    200: {
      ...PetsRef,
      description: 'A page of animals.',
      headers: {
        Link: {
          ...text(
            'The next page, with `rel="next"` (RFC 8288); absent on the last one.',
            LINK_CHARACTERS_MAX,
          ),
          'x-stability': 'beta',
        },
        ...commonHeaders,
      },
    },
    401: unauthorized,
    default: otherErrors(['bad_request', 'headers_too_large', 'request_timeout'], {
      bad_request: LIMIT_RULE,
    }),
  },
};

const createPet = {
  operationId: 'createPet',
  summary: 'Add an animal',
  description: 'Adds a pet. It is on the disk before the answer is sent.',
  tags: ['animals'],
  headers: CreateHeaders,
  body: CreateBody,
  response: {
    201: {
      ...PetRef,
      description: 'Animal added. The body carries the assigned `id`.',
      headers: {
        Location: text('Where the pet is.', LINK_CHARACTERS_MAX),
        'Idempotency-Replayed': {
          type: 'boolean',
          description: 'Whether an earlier request with this `Idempotency-Key` added the pet.',
          'x-stability': 'beta',
        },
        ...commonHeaders,
      },
    },
    400: errorResponse(
      'The body is missing required fields or has invalid values.',
      ['bad_request'],
      { bad_request: 'name is required' },
    ),
    401: unauthorized,
    default: otherErrors(
      [
        'forbidden',
        'gone',
        'payload_too_large',
        'unsupported_media_type',
        'idempotency_key_reused',
        'headers_too_large',
        'request_timeout',
      ],
      { gone: IDEMPOTENT_PET_REMOVED },
    ),
  },
};

const createPetLinks = {
  201: {
    getPet: {
      operationId: 'getPet',
      parameters: { petId: '$response.body#/id' },
      description: 'The pet that was added.',
    },
  },
};

const getPet = {
  operationId: 'getPet',
  summary: 'Get an animal',
  description:
    'Deprecated: it is to be removed on 5 December 2030. Use `GET /pets` with the `status` filter instead.',
  deprecated: true,
  'x-deprecated-sunset': SUNSET.toISOString().slice(0, 10),
  tags: ['animals'],
  params: PetPath,
  response: {
    200: {
      ...PetRef,
      description: 'The requested animal.',
      headers: { ...deprecationHeaders, ...commonHeaders },
    },
    401: unauthorized,
    404: errorResponse('The requested resource could not be found.', ['not_found']),
    default: otherErrors(['gone', 'headers_too_large', 'request_timeout']),
  },
};
