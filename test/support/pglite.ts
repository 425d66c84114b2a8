/** PGlite as the server of the tests, for machines without PostgreSQL. */

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What the address of the server itself has for a database. */
export const PGLITE_DATABASE = 'pglite';

/**
 * Starts it in a thread, which keeps no process alive. Each other database that a client names is a schema,
 * made when it first connects.
 */
export async function startPglite() {
  const worker = new Worker(new URL('./pglite-worker.ts', import.meta.url));
  const [port] = await once(worker, 'message');
  worker.unref();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/${PGLITE_DATABASE}`,
    async close() {
      await worker.terminate();
    },
  };
}
