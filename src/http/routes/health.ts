/** `/livez` and `/readyz`: whether the process lives, and whether it can serve requests. */

import type { FastifyInstance } from 'fastify';
import { unavailable } from '../../error.ts';
import type { ServedStore } from '../../store.ts';

const STORE_CHECK_MS = 1_000;
/** An older outcome is not told: a load balancer would send requests to a service that cannot answer. */
const AGE_MS_MAX = 3_000;

export function addHealthRoutes(
  app: FastifyInstance,
  store: ServedStore,
  isStopping: () => boolean,
): void {
  const checkStore = createCheck(() => store.check());
  app.decorate('checkReady', async () => {
    if (isStopping()) throw unavailable('the service is stopping');
    await checkStore();
  });
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', () => app.checkReady().then(() => ({ status: 'ok' })));
}

/** Checks at most once in STORE_CHECK_MS. Gives the last outcome, or the running check if that outcome is too old. */
function createCheck(check: () => Promise<void>): () => Promise<void> {
  let startedAt = -Infinity;
  let running = Promise.resolve();
  let last = { outcome: running, at: -Infinity };

  return () => {
    const now = performance.now();
    const isRunning = last.outcome !== running;
    if (!isRunning && now - startedAt >= STORE_CHECK_MS) {
      startedAt = now;
      const outcome = check();
      const end = () => {
        last = { outcome, at: performance.now() };
      };
      outcome.then(end, end);
      running = outcome;
    }
    return now - last.at < AGE_MS_MAX ? last.outcome : running;
  };
}
