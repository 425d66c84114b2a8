/** `petstore serve`: wires the service together, starts it and stops it. */

import cluster from 'node:cluster';
import type { AddressInfo } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { describeState, issueKey } from '../cli/commands/keys.ts';
import type { ServeConfig } from '../cli/options.ts';
import { PetstoreError } from '../error.ts';
import { createApp } from '../http/app.ts';
import { describeAddress, openStore } from '../storage/open.ts';
import type { Store } from '../store.ts';
import { openLog } from './log.ts';
import { startWorkers } from './workers.ts';

/** Requests in flight have so long to be answered once the service is told to stop. */
const DRAIN_MS_MAX = 10_000;

/** Signals within this time of the first are taken for the same. */
const SAME_SIGNAL_MS = 1_000;

const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use: choose another --port, or 0 for any free one',
  EACCES: 'is not allowed to this user: choose a --port above 1023',
  EADDRNOTAVAIL: 'is not an address of this machine: choose another --host',
  ENOTFOUND: 'is not a known host: choose another --host',
};

/** What is served, by this process or by those it started. */
export interface Service {
  readonly port: number;
  /** Resolves when what was begun is answered and the last has ended. */
  stop(): Promise<void>;
}

/** Resolves once the service listens; it then runs until a signal stops it. */
export async function serve(config: ServeConfig): Promise<void> {
  try {
    await start(config);
  } catch (error) {
    // The channel to the process that started this one would keep it alive.
    cluster.worker?.disconnect();
    throw error;
  }
}

async function start(config: ServeConfig): Promise<void> {
  const { log, close: closeLog } = openLog(config.logLevel);
  const { database, workers, databaseConnections: connections } = config;
  if (workers > 1 && database === 'sqlite::memory:') {
    throw new PetstoreError(
      'bad_request',
      'sqlite::memory: is for one process: --workers must be 1',
    );
  }
  const store = await openStore(database, { create: true, connections });
  try {
    const service =
      workers > 1 && cluster.isPrimary
        ? await startWorkers(config, log)
        : await startApp(config, store, log);
    stopOnSignal(async () => {
      log.info('stopping');
      await service.stop();
      await store.close();
      return closeLog();
    });
    if (cluster.isWorker) return;
    const lines = [
      `petstore listens on http://${toUrlHost(config.host)}:${service.port} (${config.environment}, ${describeAddress(database)})`,
      ...(await describeFirstKey(config, service.port, store)),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function startApp(
  config: ServeConfig,
  store: Store,
  log: FastifyBaseLogger,
): Promise<Service> {
  const app = await createApp({
    store,
    log,
    environment: config.environment,
    ...(config.baseUrl !== undefined && { baseUrl: config.baseUrl }),
    corsOrigins: config.corsOrigin,
    isGetPetRetired: config.retireGetPet,
  });
  try {
    await listen(app, config);
  } catch (error) {
    await app.close();
    throw error;
  }
  return {
    port: (app.server.address() as AddressInfo).port,
    async stop() {
      setTimeout(() => app.server.closeAllConnections(), DRAIN_MS_MAX).unref();
      await app.close();
    },
  };
}

async function listen(app: FastifyInstance, { host, port }: ServeConfig): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const reason = LISTEN_ERRORS[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    throw new PetstoreError('unavailable', `${toUrlHost(host)}:${port} ${reason}`, {
      cause: error,
    });
  }
}

/** In staging the first start makes a key; in production a secret is never printed. */
async function describeFirstKey(
  { environment, host, database }: ServeConfig,
  port: number,
  store: Store,
): Promise<string[]> {
  const keys = await store.keys.list();
  const now = Date.now();
  const ours = keys.filter((key) => key.environment === environment);
  if (ours.some((key) => describeState(key, now) === 'active')) return [];
  if (environment === 'production' || ours.length > 0) {
    return [
      `No ${environment} key is active. To make one:`,
      `  petstore keys create --name NAME --environment ${environment} --database ${describeAddress(database)}`,
    ];
  }
  const { key, newKey } = issueKey({ name: 'first', environment });
  await store.keys.add(newKey);
  const reachable = /^(0\.0\.0\.0|::)$/.test(host) ? '127.0.0.1' : toUrlHost(host);
  return [
    'The first key, which is shown only now, and how to use it:',
    `  curl -H 'Authorization: Bearer ${key}' http://${reachable}:${port}/v1/pets`,
  ];
}

/** The first signal stops the service in order, a second one at once. */
function stopOnSignal(stop: () => Promise<boolean>): void {
  let stoppingAt: number | undefined;
  const onSignal = async () => {
    if (stoppingAt !== undefined) {
      // Under npm one Ctrl-C arrives twice, from the terminal and from npm.
      if (performance.now() - stoppingAt > SAME_SIGNAL_MS) kill();
      return;
    }
    stoppingAt = performance.now();
    if (await stop()) process.exit(0);
    kill();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/** `process.exit` would wait for a write to a log that nobody reads. */
function kill(): void {
  process.kill(process.pid, 'SIGKILL');
}

function toUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
