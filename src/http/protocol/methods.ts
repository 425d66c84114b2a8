/** The methods of each path: OPTIONS lists them, every other method is 405 (RFC 9110 sections 9.3.7 and 15.5.6). */

import type { FastifyInstance } from 'fastify';
import { PetstoreError } from '../../error.ts';
import { METHODS } from './node-http.ts';

/** Every method that some path of the service takes. */
export const SERVED_METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS'] as const;

export const NOTHING_HERE = new PetstoreError(
  'not_found',
  'there is nothing at this path; pets are at /v1/pets',
);

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

/**
 * Adds, in this scope, the answer to OPTIONS and to every method that a path does not have, and to
 * every unknown path. All of them answer before a body is read. To be called after all other routes.
 */
export function addFallbackRoutes(scope: FastifyInstance, routes: Routes): void {
  for (const [path, methods] of routes) {
    if (methods.includes('OPTIONS') || !path.startsWith(scope.prefix)) continue;
    const allow = [...methods, 'OPTIONS'].join(', ');
    scope.route({
      method: METHODS.filter((method) => !methods.includes(method)),
      url: path.slice(scope.prefix.length),
      // Not async: a request goes on behind an async hook if its client resets before the answer is sent.
      onRequest: (request, reply) => {
        reply.header('allow', allow);
        if (request.method === 'OPTIONS') reply.code(204).send();
        else throw new PetstoreError('method_not_allowed', `this path takes only ${allow}`);
      },
      handler: () => undefined,
    });
  }
  scope.setNotFoundHandler(() => undefined);
  scope.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) throw NOTHING_HERE;
    done();
  });
}

/** Whether it is origin-form or absolute-form (RFC 9112 section 3.2). */
export function isTarget(url: string): boolean {
  return url.startsWith('/') || (/^https?:/i.test(url) && URL.canParse(url));
}

/**
 * The target as Fastify's router takes it literally. A bad percent-escape would be refused before
 * any hook runs, and the router would cut off a `#`, which no target may have (RFC 9112 section 3.2). For a bad target
 * it is the first page: a hook refuses the request.
 */
export function escapeTarget(url: string): string {
  if (!isTarget(url)) return '/';
  if (!/[%#]/.test(url)) return url;
  const target = url.replaceAll('#', '%23');
  try {
    decodeURIComponent(target.replace(/\?.*/s, ''));
    return target;
  } catch {
    return target.replaceAll('%', '%25');
  }
}
