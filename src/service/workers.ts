/** `serve --workers N`: N processes on one port. A worker that ends is replaced. */

import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { unavailable } from '../error.ts';
import type { Log } from '../log.ts';
import { SERVICE_LIMITS } from './limits.ts';
import type { ServeOptions } from './serve-options.ts';
import { explainListenError, type Place, type Service, toListenHost } from './service.ts';

/** The pause before a worker is replaced: a worker that always fails must not take the processor. */
const REPLACE_MS = 1_000;

/** A signal to all processes, such as Ctrl-C, may reach the primary so long after a worker. */
const SIGNAL_DELAY_MS_MAX = 1_000;

/** Resolves when the first worker listens. @throws PetstoreError if a port is in use, or if this worker ends before. */
export async function startWorkers(
  options: ServeOptions,
  log: Log,
  isStopping: () => boolean,
): Promise<Service> {
  const { workers: count, host, port: wanted, adminHost, adminPort } = options;
  // Each worker accepts its connections: one that the primary passes to a dead worker would hang.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // All workers listen on the same port. The second --port option overrides the first.
  const port = await findPort(host, wanted, '');
  // The admin listener starts last. Found now, its error does not wait for the workers.
  if (adminPort !== undefined) await findPort(adminHost, adminPort, 'admin-');
  // Behind a -- the port would be no option.
  const args = process.argv.slice(2).filter((arg) => arg !== '--');
  cluster.setupPrimary({ args: [...args, '--port', String(port)] });
  // A message to a dead worker fails. Without a listener this error would end the primary.
  cluster.on('fork', (worker) =>
    worker.on('error', (err) =>
      log.error('a worker cannot be reached', { err, worker: worker.process.pid }),
    ),
  );
  // First one worker: if it fails, the start fails.
  await listening(cluster.fork());
  const forkUnlessStopping = () => isStopping() || cluster.fork();
  cluster.on('exit', async (worker, status, signal) => {
    if (isStopping()) return;
    log.error('a worker ended and is replaced', { worker: worker.process.pid, status, signal });
    await wait(REPLACE_MS);
    forkUnlessStopping();
  });
  for (let started = 1; started < count; started += 1) forkUnlessStopping();
  const registry = adminPort === undefined ? undefined : await import('./registry.ts');
  return { port, stop: stopWorkers, readMetrics: registry?.createWorkersReader() };
}

/** Ends all workers, also those that start. Resolves when they have ended. */
export async function stopWorkers(): Promise<void> {
  // A dead worker may still be listed, but emits no `exit` any more.
  const running = Object.values(cluster.workers ?? {})
    .filter((worker) => worker !== undefined)
    .filter((worker) => !worker.isDead());
  const ended = running.map((worker) => once(worker, 'exit'));
  const kill = (signal: NodeJS.Signals) => running.map(({ process }) => process.kill(signal));
  kill('SIGTERM');
  // A frozen worker gets no SIGTERM.
  const timer = setTimeout(kill, SERVICE_LIMITS.WORKER_STOP_MS_MAX.value, 'SIGKILL');
  await Promise.all(ended);
  clearTimeout(timer);
}

async function listening(worker: Worker): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = async (status: number | null, signal: string | null) => {
    // A worker that failed by itself has printed why: the primary prints nothing.
    if (status) process.exitCode = 1;
    else await wait(SIGNAL_DELAY_MS_MAX);
    reject(unavailable(`a worker was ended by ${signal ?? 'a signal'}`));
  };
  worker.once('exit', fail);
  worker.once('listening', () => {
    worker.off('exit', fail);
    resolve();
  });
  return promise;
}

/** Resolves to a port that can be listened on: to `wanted`, or to any if `wanted` is 0. */
async function findPort(host: string, wanted: number, options: Place['options']): Promise<number> {
  const server = createServer().listen(wanted, toListenHost(host));
  await once(server, 'listening').catch((error) => {
    throw explainListenError(error, { host, port: wanted, options });
  });
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
