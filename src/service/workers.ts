/** `serve --workers N`: N processes on one port; one that ends is replaced. */

import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { PetstoreError } from '../error.ts';
import type { Log } from '../log.ts';
import type { ServeOptions } from './serve-options.ts';
import type { Service } from './service.ts';

/** A worker that ends sooner is replaced after this time, so that one that always fails does not take the processor. */
const LIFETIME_MS_MIN = 1_000;

/** A signal to all processes, as that of Ctrl-C, may reach the primary so much later than a worker has ended by it. */
const SIGNAL_DELAY_MS_MAX = 1_000;

export class Workers {
  readonly #log: Log;
  #isStopping = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Starts that many processes with the arguments of this one; resolves when all of them listen.
   *
   * @throws PetstoreError `unavailable` when one ends before it listens; it has printed why.
   */
  async start({ workers: count, host, port: wanted, adminPort }: ServeOptions): Promise<Service> {
    // Each worker accepts its connections itself. The primary could pass one to a worker that has just
    // died, and that connection would hang.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    // All workers listen on the same port; of two --port options the last one counts.
    const port = wanted === 0 ? await getFreePort(host) : wanted;
    cluster.setupPrimary({
      // Without -- Node itself would look for the file of --env-file, which may be gone by now.
      execArgv: [...process.execArgv, '--'],
      args: [...process.argv.slice(2), '--port', String(port)],
    });
    // A message to a worker that has just ended fails; without a listener that would end this process too.
    cluster.on('fork', (worker) =>
      worker.on('error', (err) => {
        if (this.#isStopping) return;
        this.#log.error({ err, worker: worker.process.pid }, 'a worker cannot be reached');
      }),
    );
    // The first one alone: what is wrong with the port is wrong for all, and is printed once.
    await this.#startOne();
    await Promise.all(Array.from({ length: count - 1 }, () => this.#startOne()));
    const service = { port, stop: () => this.stop() };
    if (adminPort === undefined) return service;
    const { createWorkerMetrics } = await import('./worker-metrics.ts');
    return { ...service, readMetrics: createWorkerMetrics() };
  }

  /** Ends all workers, those that start too; resolves when they have ended, at once when there are none. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    // A dead worker may still be listed, and emits no `exit` any more.
    const running = Object.values(cluster.workers ?? {})
      .filter((worker) => worker !== undefined)
      .filter((worker) => !worker.isDead());
    const ended = running.map((worker) => once(worker, 'exit'));
    for (const worker of running) worker.process.kill('SIGTERM');
    await Promise.all(ended);
  }

  async #startOne(): Promise<void> {
    if (this.#isStopping) return;
    const worker = cluster.fork();
    await listening(worker);
    this.#replaceOnExit(worker);
  }

  #replaceOnExit(worker: Worker): void {
    const startedAt = performance.now();
    worker.once('exit', async (status, signal) => {
      if (this.#isStopping) return;
      const fields = { worker: worker.process.pid, status, signal };
      this.#log.error(fields, 'a worker ended and is replaced');
      await setTimeout(Math.max(0, startedAt + LIFETIME_MS_MIN - performance.now()));
      if (!this.#isStopping) this.#replaceOnExit(cluster.fork());
    });
  }
}

async function listening(worker: Worker): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = async (status: number | null, signal: string | null) => {
    // A worker that failed by itself has printed why, so the primary prints nothing.
    if (status) process.exitCode = 1;
    else await setTimeout(SIGNAL_DELAY_MS_MAX);
    reject(new PetstoreError('unavailable', `a worker was ended by ${signal ?? 'a signal'}`));
  };
  worker.once('exit', fail);
  worker.once('listening', () => {
    worker.off('exit', fail);
    resolve();
  });
  return promise;
}

async function getFreePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
