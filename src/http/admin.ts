/** The HTTP application of the admin listener: `/metrics`, `/livez` and `/readyz`, for the operator's own network. */

import type { FastifyInstance } from 'fastify';
import { createHttpApp } from './app.ts';
import type { HttpServerOptions } from './server.ts';

/** Each scrape needs one. */
export const ADMIN_CONNECTIONS_MAX = 100;

const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';

export interface AdminOptions extends HttpServerOptions {
  readonly readMetrics: () => Promise<string>;
}

/** No key is needed: who reaches its port may read all of it. */
export function createAdminApp(options: AdminOptions): Promise<FastifyInstance> {
  return createHttpApp({ ...options, maxConnections: ADMIN_CONNECTIONS_MAX }, (app) => {
    app.get('/metrics', async (_request, reply) =>
      reply.type(PROMETHEUS_TEXT).send(await options.readMetrics()),
    );
  });
}
