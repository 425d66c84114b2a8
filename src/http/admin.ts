/** The HTTP application of the admin listener: `/metrics`, `/livez` and `/readyz`, for the operator's own network. */

import type { FastifyInstance } from 'fastify';
import type { Store } from '../store.ts';
import { boundConnections } from './protocol/connections.ts';
import { addFallbackRoutes, collectRoutes } from './routes/fallback.ts';
import { addHealthRoutes } from './routes/health.ts';
import { createHttpApp, type HttpServerOptions } from './server.ts';

/** Each scrape needs one. */
export const ADMIN_CONNECTIONS_MAX = 100;

const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';

export interface AdminOptions extends HttpServerOptions {
  readonly store: Store;
  /** The metrics in Prometheus' text format. */
  readonly readMetrics: () => Promise<string>;
}

/** The application, ready to listen. No key is needed: who reaches its port may read all of it. */
export async function createAdminApp(options: AdminOptions): Promise<FastifyInstance> {
  const { store, log, readMetrics, isStopping } = options;
  const app = createHttpApp(options);
  boundConnections(app.server, log, ADMIN_CONNECTIONS_MAX);
  const routes = collectRoutes(app);
  addHealthRoutes(app, store, isStopping);
  app.get('/metrics', async (_request, reply) =>
    reply.type(PROMETHEUS_TEXT).send(await readMetrics()),
  );
  addFallbackRoutes(app, routes);
  await app.ready();
  return app;
}
