/** What no other route answers: OPTIONS, another method of a path is 405, an unknown path is 404 (RFC 9110 sections 9.3.7, 15.5.5 and 15.5.6). */

import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { PetstoreError } from '../../error.ts';
import { listPets } from '../operations/list-pets.ts';
import { METHODS } from '../protocol/node-http.ts';

const PETS = `pets are at /v1${listPets.path}`;
const createNothing = (hint: string, why = '') =>
  new PetstoreError('not_found', `there is nothing at this path${why}; ${hint}`);
export const NOTHING_HERE = createNothing(PETS);

/** Two slashes, other than those of an absolute target, or one at the end of more than `/`. */
const HAS_SLASH = /^[^?]*(?:(?<!^https?:)\/\/|[^?]\/(?:\?|$))/i;

export type Routes = ReadonlyMap<string, readonly string[]>;

/** Makes Fastify accept every method that Node parses, and collects the routes that are added from now on. */
export function collectRoutes(app: FastifyInstance): Routes {
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  const routes = new Map<string, string[]>();
  app.addHook('onRoute', ({ url, method }) => {
    routes.set(url, [...(routes.get(url) ?? []), method].flat());
  });
  return routes;
}

/** Answers what a path does not take, before a body is read. To be called after all other routes of the scope. */
export function addFallbackRoutes(scope: FastifyInstance, routes: Routes): void {
  for (const [path, methods] of routes) {
    if (methods.includes('OPTIONS') || !path.startsWith(scope.prefix)) continue;
    const allow = [...methods, 'OPTIONS'].join(', ');
    scope.route({
      method: METHODS.filter((method) => !methods.includes(method)),
      url: path.slice(scope.prefix.length),
      // Not async: a request goes on behind an async hook if its client resets before the answer is sent.
      onRequest: function refuseMethod(request, reply) {
        reply.header('allow', allow);
        if (request.method === 'OPTIONS') reply.code(204).send();
        else throw new PetstoreError('method_not_allowed', `this path takes only ${allow}`);
      },
      handler: () => undefined,
    });
  }
  scope.setNotFoundHandler(() => undefined);
}

/** @param hint where something is. */
export function createRefuseUnknownPath(hint = PETS): onRequestHookHandler {
  const nothing = createNothing(hint);
  const slash = createNothing(hint, ': it has a slash too many');

  return function refuseUnknownPath(request, _reply, done) {
    // For the router, `/v1/pets/` has an empty `petId`.
    const { petId } = request.params as { petId?: string };
    if (!request.is404 && petId !== '') done();
    else throw HAS_SLASH.test(request.url) ? slash : nothing;
  };
}
