/** `serve --workers N`: N processes on one port, of which each that fails is replaced; what each does is in serve.ts. */

import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { PetstoreError } from '../error.ts';
import type { Service } from './serve.ts';

interface WorkersConfig {
  readonly workers: number;
  readonly host: string;
  readonly port: number;
}

/** A worker that ends sooner is replaced only then, so that a fault does not become a storm. */
const LIFETIME_MS_MIN = 1_000;

/**
 * Starts so many processes like this one; resolves when all of them listen.
 *
 * @throws PetstoreError `unavailable` when one ends before it listens; it has said why.
 */
export async function startWorkers(
  { workers: count, host, port: wanted }: WorkersConfig,
  log: FastifyBaseLogger,
): Promise<Service> {
  // Each worker takes its connections itself: what is handed to one that dies just then would hang.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // Later ones must listen where the first did; the last of two options counts.
  const port = wanted === 0 ? await findFreePort(host) : wanted;
  cluster.setupPrimary({ args: [...process.argv.slice(2), '--port', String(port)] });
  let isStopping = false;

  async function start(): Promise<void> {
    const worker = cluster.fork();
    await listening(worker);
    keep(worker);
  }

  /** Has it replaced whenever it ends. */
  function keep(worker: Worker): void {
    const startedAt = performance.now();
    worker.once('exit', async (status, signal) => {
      if (isStopping) return;
      log.error({ pid: worker.process.pid, status, signal }, 'a worker ended and is replaced');
      await setTimeout(Math.max(0, startedAt + LIFETIME_MS_MIN - performance.now()));
      if (!isStopping) keep(cluster.fork());
    });
  }

  async function stop(): Promise<void> {
    isStopping = true;
    // One that is dead may still be listed, and has no end to wait for.
    const running = Object.values(cluster.workers ?? {})
      .filter((worker) => worker !== undefined)
      .filter((worker) => !worker.isDead());
    const ended = running.map((worker) => once(worker, 'exit'));
    for (const worker of running) worker.process.kill('SIGTERM');
    await Promise.all(ended);
  }

  try {
    // The first alone, since what is wrong with the port is wrong for all of them.
    await start();
    await Promise.all(Array.from({ length: count - 1 }, start));
    return { port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves when the worker listens. */
async function listening(worker: Worker): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (_status: number, signal: string) => {
    // One that ended by itself has said why.
    if (signal === null) process.exitCode = 1;
    reject(new PetstoreError('unavailable', `a worker was ended by ${signal}`));
  };
  worker.once('exit', fail);
  worker.once('listening', () => {
    worker.off('exit', fail);
    resolve();
  });
  return promise;
}

async function findFreePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
