/** The HTTP service: everything that happens to a request, in order, after what `server.ts` does. */

import type { FastifyInstance } from 'fastify';
import type { Store } from '../store.ts';
import { createAuthenticate } from './hooks/authenticate.ts';
import { createCors } from './hooks/cors.ts';
import { createRateLimit } from './hooks/rate-limit.ts';
import { createRehearse, loseAnswer } from './hooks/rehearse.ts';
import { addOperations } from './operations/routes.ts';
import type { RequestOptions } from './options.ts';
import { boundConnections } from './protocol/connections.ts';
import { addConsoleRoutes } from './routes/console.ts';
import { addDocsRoutes } from './routes/docs.ts';
import { addFallbackRoutes, collectRoutes } from './routes/fallback.ts';
import { addHealthRoutes } from './routes/health.ts';
import { createHttpApp, type HttpServerOptions } from './server.ts';
import type { TokenBuckets } from './token-buckets.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readConnections: () => { connections: number; requestsAtWork: number; waitingRequests: number };
  }
}

type Served = Partial<RequestOptions> &
  Pick<RequestOptions, 'environment' | 'corsOrigin' | 'rehearse' | 'retireGetPet'>;

export interface AppOptions extends Served, Pick<HttpServerOptions, 'log' | 'count'> {
  readonly store: Store;
  /** Counts the requests of each key; without it they are not limited. */
  readonly rateLimiter?: TokenBuckets | undefined;
  /** The time in milliseconds since 1970. */
  readonly now?: () => number;
}

/** The service, ready to listen or to be injected; its `close` leaves the store open. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { store, log, environment, retireGetPet, rateLimiter } = options;
  const { baseUrl = '/v1', now = Date.now, maxConnections = Number.POSITIVE_INFINITY } = options;
  const base = baseUrl.replace(/\/v1$/, '');
  let stopping = false;
  const isStopping = () => stopping;
  const { connectionsMax: databaseConnections } = store;
  const app = createHttpApp({ ...options, isStopping, databaseConnections });
  const readConnections = boundConnections(app.server, log, maxConnections);
  app.decorate('readConnections', () => ({
    ...readConnections(),
    waitingRequests: app.queue.waiting,
  }));
  app.addHook('preClose', async () => {
    stopping = true;
  });

  // Each request: its origin; under /v1 its key and rate limit; its route, body and handler.
  app.addHook('onRequest', createCors(options.corsOrigin));
  const routes = collectRoutes(app);
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
  addHealthRoutes(app, store, isStopping);
  addFallbackRoutes(app, routes);
  await app.ready();
  return app;
}
