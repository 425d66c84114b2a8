/** The methods that no route has: OPTIONS says what there is, all others are refused (RFC 9110 section 15.5.6). */

import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PetstoreError } from '../../error.ts';

/** The methods of each path, as they are registered from now on. */
export type Routes = ReadonlyMap<string, Set<string>>;

/** Teaches Fastify every method that Node parses, and notes the routes that are added from now on. */
export function collectRoutes(app: FastifyInstance): Routes {
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  const routes = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = routes.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    routes.set(url, methods);
  });
  return routes;
}

/**
 * Answers, in this scope, OPTIONS and every method that a path of it does not have, and every path
 * that is not there; before a body is read. To be called once all routes are added.
 */
export function refuseTheRest(scope: FastifyInstance, routes: Routes): void {
  for (const [path, methods] of routes) {
    if (methods.has('OPTIONS') || !path.startsWith(scope.prefix)) continue;
    const allow = [...methods, 'OPTIONS'].join(', ');
    scope.route({
      method: METHODS.filter((method) => !methods.has(method)),
      url: path.slice(scope.prefix.length),
      schema: { hide: true },
      onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
        reply.header('allow', allow);
        if (request.method === 'OPTIONS') return reply.code(204).send();
        throw new PetstoreError('method_not_allowed', `this path takes only ${allow}`);
      },
      handler: () => undefined,
    });
  }
  scope.setNotFoundHandler(() => undefined);
  scope.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) {
      throw new PetstoreError(
        'not_found',
        'there is nothing at this path; animals are at /v1/pets',
      );
    }
    done();
  });
}

/**
 * A target that Fastify routes as it is written. A bad percent-escape would stop it before its hooks,
 * and it would cut off what follows a `#`, which no target has (RFC 9112 section 3.2).
 */
export function escapeTarget(url: string): string {
  if (!/[%#]/.test(url)) return url;
  const [path = '', ...query] = url.replaceAll('#', '%23').split('?');
  return [isWellEscaped(path) ? path : path.replaceAll('%', '%25'), ...query].join('?');
}

function isWellEscaped(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
