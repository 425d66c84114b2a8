/** A thread with a well-behaved client: sends `/livez` again and again, and reports how long each answer took. */

import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { send } from '../support/request.ts';

const PAUSE_MS = 10;

const { port } = workerData as { readonly port: number };
for (;;) {
  const sentAt = performance.now();
  const { status } = await send(port, { path: '/livez' });
  if (status !== 200) throw new Error(`/livez is ${status}`);
  parentPort?.postMessage(performance.now() - sentAt);
  await sleep(PAUSE_MS);
}
