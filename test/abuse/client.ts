/** A thread with a well-behaved client: sends the same request again and again, and reports how long each answer took. */

import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type Sent, send } from '../support/request.ts';
import type { Answer } from '../support/socket.ts';

const PAUSE_MS = 10;

const { port, sent } = workerData as { readonly port: number; readonly sent: Sent };

/** A connection may be closed while it is idle: then the request is sent again, as by any client. A new one never is. */
async function sendAgain(): Promise<Answer> {
  for (;;) {
    try {
      return await send(port, sent);
    } catch (error) {
      const isReset = /ECONNRESET|EPIPE/.test((error as NodeJS.ErrnoException).code ?? '');
      if (!isReset || sent.headers?.connection === 'close') throw error;
    }
  }
}

for (;;) {
  const sentAt = performance.now();
  const { status } = await sendAgain();
  if (status !== 200) throw new Error(`${sent.path} is ${status}`);
  parentPort?.postMessage(performance.now() - sentAt);
  await sleep(PAUSE_MS);
}
