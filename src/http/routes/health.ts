/** `/livez` and `/readyz`: whether the process lives, and whether it can serve requests. */

import type { FastifyInstance } from 'fastify';
import { PetstoreError } from '../../error.ts';
import type { Store } from '../../store.ts';

/** @throws PetstoreError when the service cannot serve requests. */
export async function checkReady(store: Store, isStopping: () => boolean): Promise<void> {
  if (isStopping()) throw new PetstoreError('unavailable', 'the service is stopping');
  await store.check();
}

/** @param isStopping whether the service is stopping: then `/readyz` is 503. */
export function addHealthRoutes(
  app: FastifyInstance,
  store: Store,
  isStopping: () => boolean,
): void {
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    await checkReady(store, isStopping);
    return { status: 'ok' };
  });
}
