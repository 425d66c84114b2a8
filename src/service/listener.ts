/** The service in this process: the HTTP application on a store, listening on a port. */

import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type AdminOptions, createAdminApp, createApp } from '../http/app.ts';
import { TokenBuckets } from '../http/hooks/rate-limit.ts';
import type { Store } from '../store.ts';
import { RequestCounts } from './counts.ts';
import { SERVICE_LIMITS } from './limits.ts';
import type { OpenLog } from './open-log.ts';
import type { ServeOptions } from './serve-options.ts';
import { explainListenError, type Place, type Service, toListenHost } from './service.ts';

const IDLE_CHECK_MS = 50;

/** @throws PetstoreError `unavailable` when it cannot listen there. */
export async function startListener(
  options: ServeOptions,
  store: Store,
  { log, countDropped }: OpenLog,
  isStopping: () => boolean,
): Promise<Service> {
  const { rateLimit, rateLimitBurst, workers } = options;
  const counts = options.adminPort === undefined ? undefined : new RequestCounts();
  const app = await createApp({
    ...options,
    store,
    log,
    rateLimiter: rateLimit === undefined ? undefined : new TokenBuckets(rateLimit, rateLimitBurst),
    count: counts?.count,
    isStopping,
  });
  let readMetrics: Service['readMetrics'];
  if (counts !== undefined) {
    // Loaded only with an admin port, since the library takes memory and time to start.
    const { createMetricsReader } = await import('./registry.ts');
    readMetrics = createMetricsReader({ counts, app, store, workers, countDropped });
  }
  return {
    port: await listen(app, { ...options, options: '' }),
    readMetrics,
    async stop() {
      setTimeout(() => app.server.closeAllConnections(), SERVICE_LIMITS.DRAIN_MS_MAX.value).unref();
      // An answer that was begun before has no `Connection: close`, and leaves its connection open.
      setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS).unref();
      await app.close();
    },
  };
}

export async function startAdmin(
  { adminHost: host, adminPort: port = 0 }: ServeOptions,
  options: AdminOptions,
): Promise<Service> {
  const app = await createAdminApp(options);
  return {
    port: await listen(app, { host, port, options: 'admin-' }),
    async stop() {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

async function listen(app: FastifyInstance, place: Place): Promise<number> {
  const { host, port } = place;
  // A client that the kernel does not keep for us tries again only after 1 s. Node's own backlog is 511.
  await app.listen({ host: toListenHost(host), port, backlog: 4_096 }).catch((error) => {
    throw explainListenError(error, place);
  });
  return (app.server.address() as AddressInfo).port;
}
