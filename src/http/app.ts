/** The HTTP service: everything that happens to a request, in order, after what `server.ts` does. */

import type { FastifyInstance } from 'fastify';
import { createAuthenticate } from './hooks/authenticate.ts';
import { createCors } from './hooks/cors.ts';
import { createRateLimit, type TokenBuckets } from './hooks/rate-limit.ts';
import { createRehearse, loseAnswer } from './hooks/rehearse.ts';
import { addOperations } from './operations/routes.ts';
import type { RequestOptions } from './options.ts';
import { addConsoleRoutes } from './routes/console.ts';
import { addDocsRoutes } from './routes/docs.ts';
import { addFallbackRoutes } from './routes/fallback.ts';
import { createHttpApp, type HttpServerOptions } from './server.ts';

type Served = Partial<RequestOptions> &
  Pick<RequestOptions, 'environment' | 'corsOrigin' | 'rehearse' | 'retireGetPet'>;

export interface AppOptions extends Served, Pick<HttpServerOptions, 'store' | 'log' | 'count'> {
  /** Counts the requests of each key; without it they are not limited. */
  readonly rateLimiter?: TokenBuckets | undefined;
  /** The time in milliseconds since 1970. */
  readonly now?: () => number;
}

export function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { store, log, environment, retireGetPet, rateLimiter } = options;
  const { baseUrl = '/v1', now = Date.now } = options;
  const base = baseUrl.replace(/\/v1$/, '');
  let stopping = false;

  // Each request: its origin; under /v1 its key and rate limit; its route, body and handler.
  return createHttpApp({ ...options, isStopping: () => stopping }, async (app, routes) => {
    app.addHook('preClose', async () => {
      stopping = true;
    });
    app.addHook('onRequest', createCors(options.corsOrigin));
    await app.register(
      async (v1) => {
        const authenticate = createAuthenticate(store.keys, environment, now, log);
        v1.addHook('onRequest', authenticate);
        if (rateLimiter !== undefined) v1.addHook('onRequest', createRateLimit(rateLimiter));
        if (options.rehearse) {
          // Before the fair queue: a request that is delayed takes no place there.
          v1.addHook('preValidation', createRehearse());
          v1.addHook('onSend', loseAnswer);
        }
        v1.addHook('preHandler', authenticate);
        addOperations(v1, { pets: store.pets, base, retireGetPet });
        addFallbackRoutes(v1, routes);
      },
      { prefix: '/v1' },
    );
    addDocsRoutes(app, { environment, baseUrl });
    addConsoleRoutes(app);
  });
}
