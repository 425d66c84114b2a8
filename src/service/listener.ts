/** The service in this process: the HTTP application on a store, listening on a port. */

import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { PetstoreError } from '../error.ts';
import { createApp } from '../http/app.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store.ts';
import { createRateLimiter } from './rate-limiter.ts';
import type { ServeOptions, Service } from './service.ts';

/** How long requests in flight may take once the service is told to stop. */
const DRAIN_MS_MAX = 10_000;

const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use: choose another --port, or 0 for any free one',
  EACCES: 'is not allowed to this user: choose a --port above 1023',
  EADDRNOTAVAIL: 'is not an address of this machine: choose another --host',
  ENOTFOUND: 'is not a known host: choose another --host',
};

/** @throws PetstoreError `unavailable` when the host or the port cannot be listened on. */
export async function startListener(
  options: ServeOptions,
  store: Store,
  log: Log,
): Promise<Service> {
  const rateLimiter = createRateLimiter(options);
  const app = await createApp({ ...options, store, log, rateLimiter });
  try {
    await listen(app, options);
  } catch (error) {
    await app.close();
    throw error;
  }
  return {
    port: (app.server.address() as AddressInfo).port,
    async stop() {
      setTimeout(() => app.server.closeAllConnections(), DRAIN_MS_MAX).unref();
      await app.close();
    },
  };
}

async function listen(app: FastifyInstance, { host, port }: ServeOptions): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const reason = LISTEN_ERRORS[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    throw new PetstoreError('unavailable', `${toUrlHost(host)}:${port} ${reason}`, {
      cause: error,
    });
  }
}

/** A host as it stands in a URL: an IPv6 address in brackets. */
export function toUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
