/** `/livez` and `/readyz`: whether the process lives, and whether it can serve requests. */

import type { FastifyInstance } from 'fastify';
import { PetstoreError } from '../../error.ts';
import type { Store } from '../../store.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** @throws PetstoreError when the service cannot serve requests. */
    checkReady: () => Promise<void>;
  }
}

/** @param isStopping whether the service is stopping: then `/readyz` is 503. */
export function addHealthRoutes(
  app: FastifyInstance,
  store: Store,
  isStopping: () => boolean,
): void {
  app.decorate('checkReady', async () => {
    if (isStopping()) throw new PetstoreError('unavailable', 'the service is stopping');
    await store.check();
  });
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', () => app.checkReady().then(() => ({ status: 'ok' })));
}
