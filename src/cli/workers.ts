/** `serve --workers N`: N processes on one port, of which each that fails is replaced; what each does is in serve.ts. */

import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { PetstoreError } from '../error.ts';
import type { Service } from './serve.ts';

/** A worker that ends sooner is replaced only then, so that a fault does not become a storm. */
const LIFETIME_MS_MIN = 1_000;

/**
 * Starts so many processes like this one; resolves when all of them listen.
 *
 * @throws PetstoreError `unavailable` when one ends before it listens; it has said why.
 */
export async function startWorkers(
  { workers: count }: { readonly workers: number },
  log: FastifyBaseLogger,
): Promise<Service> {
  let isStopping = false;

  function start(): Worker {
    const startedAt = performance.now();
    const worker = cluster.fork();
    worker.once('exit', async (status, signal) => {
      if (isStopping) return;
      log.error({ pid: worker.process.pid, status, signal }, 'a worker ended and is replaced');
      await setTimeout(Math.max(0, startedAt + LIFETIME_MS_MIN - performance.now()));
      if (!isStopping) start();
    });
    return worker;
  }

  async function stop(): Promise<void> {
    isStopping = true;
    const running = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const ended = running.map((worker) => once(worker, 'exit'));
    for (const worker of running) worker.process.kill('SIGTERM');
    await Promise.all(ended);
  }

  try {
    // The first alone, since what is wrong with the port is wrong for all of them.
    const port = await listening(start());
    await Promise.all(Array.from({ length: count - 1 }, () => listening(start())));
    return { port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The port that the worker listens on. */
async function listening(worker: Worker): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  worker.once('listening', ({ port }: AddressInfo) => resolve(port));
  worker.once('exit', () => reject(new PetstoreError('unavailable', 'no worker could be started')));
  return promise;
}
