/** The three operations of the interface, under `/v1`: listPets, createPet, getPet. */

import type {
  HookHandlerDoneFunction as Done,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
} from 'fastify';
import { type NewPet, parseNewPet, toPetJson } from '../../pet.ts';
import type { PetQuery, Store } from '../../store.ts';
import { createCursor } from '../cursor.ts';
import { createError } from '../errors.ts';
import { createDeprecation, type DeprecationOptions } from '../hooks/deprecation.ts';
import { parseBody, requireJson, send100Continue } from '../protocol/body.ts';
import { findIdempotencyKey, parseListQuery, parsePetId } from '../schemas/requests.ts';

export interface PetRoutesOptions extends DeprecationOptions {
  readonly store: Store;
}

/** Adds the operations, relative to the prefix they are registered with. */
export const petRoutes: FastifyPluginAsync<PetRoutesOptions> = async (app, options) => {
  const url = `${options.base}/v1/pets`;
  const { pets } = options.store;
  app.get('/pets', async (request, reply) => {
    const query = parseListQuery(request.query);
    const { json, next } = await pets.listAsJson(query);
    if (next !== undefined) {
      reply.header('link', `<${url}?${toNextQuery(query, next)}>; rel="next"`);
    }
    reply.type('application/json');
    return json;
  });

  app.route({
    method: 'POST',
    url: '/pets',
    onRequest: [requireWritable, requireJson],
    preParsing: send100Continue,
    // Before the fair queue: a parsed pet takes less memory there than its body.
    preValidation: parsePetOfBody,
    async handler({ body, keyId, headers }, reply) {
      const newPet = body as NewPet;
      const key = findIdempotencyKey(headers['idempotency-key']);
      const { pet, isReplay } =
        key === undefined || keyId === null
          ? { pet: await pets.add(newPet), isReplay: false }
          : await pets.addOnce(newPet, { keyId, key, at: options.now() });
      reply.code(201).header('location', `${url}/${pet.id}`);
      if (isReplay) reply.header('idempotency-replayed', 'true');
      reply.type('application/json');
      return toPetJson(pet);
    },
  });

  app.route<{ Params: { petId: string } }>({
    method: 'GET',
    url: '/pets/:petId',
    onRequest: createDeprecation(app.petstoreLog, options),
    async handler({ params }, reply) {
      const pet = await pets.find(parsePetId(params.petId));
      if (pet === undefined) throw createError('not_found');
      reply.type('application/json');
      return toPetJson(pet);
    },
  });
};

/** Refuses a key that may not add pets, before the body is looked at. */
function requireWritable({ isReadOnly }: FastifyRequest, _reply: FastifyReply, done: Done): void {
  done(isReadOnly ? createError('forbidden') : undefined);
}

function parsePetOfBody(request: FastifyRequest, _reply: FastifyReply, done: Done): void {
  request.body = parseNewPet(parseBody(request.body));
  done();
}

/** Digits, a status and base64url: none of them needs a percent-escape. */
function toNextQuery({ limit, status }: PetQuery, next: bigint): string {
  const filter = status === undefined ? '' : `&status=${status}`;
  return `limit=${limit}${filter}&cursor=${createCursor(next)}`;
}
