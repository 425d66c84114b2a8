/** Starts a service: opens its log and its store, listens, says so; stops on a signal. */

import cluster from 'node:cluster';
import manifest from '../../package.json' with { type: 'json' };
import { PetstoreError } from '../error.ts';
import type { Log } from '../log.ts';
import { generatePets } from '../sample.ts';
import { describeAddress, isMemoryAddress } from '../storage/address.ts';
import { SCHEMA } from '../storage/migrations.ts';
import type { Store } from '../store.ts';
import { announce } from './announce.ts';
import { checkEnvironment, openOwnStore } from './environment.ts';
import { ensureFirstKey } from './first-key.ts';
import { limitConnections } from './open-files.ts';
import { type OpenLog, openLog } from './open-log.ts';
import type { ServeOptions } from './serve-options.ts';
import { type Service, toReachableUrl, toUrl } from './service.ts';
import { stopOnSignal } from './signals.ts';
import { Workers } from './workers.ts';

/** Loads Fastify: half of the time and memory of a start. The primary of workers needs no Fastify. */
const loadListener = () => import('./listener.ts');

/** What a stop ends: what the start has opened so far. */
interface Running {
  readonly workers: Workers;
  store?: Store;
  service?: Service;
  admin?: Service;
  isStopping: boolean;
}

/** Resolves when the service listens. The service runs until a signal stops it. */
export async function serve(options: ServeOptions): Promise<void> {
  const openedLog = openLog(options.logLevel);
  const running: Running = { workers: new Workers(openedLog.log), isStopping: false };
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopAll(running);
    return stopped;
  };
  // Before the start: a signal during the start must also end the workers.
  stopOnSignal(async () => {
    running.isStopping = true;
    openedLog.log.info('stopping');
    await stop();
    return openedLog.close();
  });
  try {
    await start(options, running, openedLog);
  } catch (error) {
    // The stop by a signal makes the start fail. A signal may also come while a failed start is undone.
    if (!running.isStopping) await stop();
    if (running.isStopping) return;
    // The channel to the primary would keep this worker alive.
    cluster.worker?.disconnect();
    throw error;
  }
}

async function stopAll(running: Running): Promise<void> {
  await (running.service ?? running.workers).stop();
  await running.admin?.stop();
  await running.store?.close();
}

async function start(options: ServeOptions, running: Running, openedLog: OpenLog): Promise<void> {
  const { log } = openedLog;
  const store = await openServed(options, log);
  running.store = store;
  await checkStore(store, options, log);
  const samples = cluster.isPrimary ? await addSamples(store, options) : [];
  const service = await listen(options, running.workers, store, openedLog);
  running.service = service;
  const { readMetrics } = service;
  // The primary has the admin listener for all workers.
  if (readMetrics && cluster.isPrimary) {
    const { startAdmin } = await loadListener();
    const isStopping = () => running.isStopping;
    running.admin = await startAdmin(options, { store, log, readMetrics, isStopping });
  }
  if (cluster.isWorker || running.isStopping) return;
  const { notes, ...key } = await ensureFirstKey(options, service.port, store);
  const own = [describe(options, store, service), ...samples];
  const { admin } = running;
  if (admin) own.push(`metrics at ${toUrl(options.adminHost, admin.port)}/metrics`);
  announce({ ...key, notes: [...own, ...notes] }, openedLog);
}

async function openServed(options: ServeOptions, log: Log): Promise<Store> {
  if (options.workers > 1 && isMemoryAddress(options.database)) {
    const message = 'sqlite::memory: is for one process: --workers must be 1';
    throw new PetstoreError('bad_request', message);
  }
  // The primary purges for all workers, because it serves no request.
  const clock = cluster.isWorker ? {} : { serviceClock: Date.now };
  return openOwnStore(options, { ...options, ...clock, warn: log.warn });
}

async function checkStore(store: Store, options: ServeOptions, log: Log): Promise<void> {
  const { foundSchema } = store;
  if (foundSchema > 0 && foundSchema < SCHEMA) {
    log.info(`migrated the store from schema ${foundSchema} to ${SCHEMA}`);
  }
  if (cluster.isPrimary && (await checkEnvironment(store, options))) {
    log.warn(
      `the store has keys of both environments: petstore copy --environment ${options.environment} makes a store without the other keys`,
    );
  }
}

/** Resolves to what the start says about it. */
async function addSamples({ pets }: Store, { seed: count }: ServeOptions): Promise<string[]> {
  if (count === undefined) return [];
  const isSeeded = await pets.seed(generatePets({ count, seed: 1 }));
  if (isSeeded) return [`${count} sample pets are added`];
  return ['no sample pets are added: the store has pets, or had some'];
}

async function listen(
  options: ServeOptions,
  workers: Workers,
  store: Store,
  openedLog: OpenLog,
): Promise<Service> {
  const maxConnections = limitConnections(options, openedLog.log);
  if (options.workers > 1 && cluster.isPrimary) return workers.start(options);
  const { startListener } = await loadListener();
  return startListener({ ...options, maxConnections }, store, openedLog);
}

function describe(
  { host, environment, database }: ServeOptions,
  { foundSchema }: Store,
  { port }: Service,
): string {
  const where = `petstore ${manifest.version} listens on ${toUrl(host, port)}`;
  const what = `${environment}, ${foundSchema === 0 ? 'new store' : 'store'} ${describeAddress(database)}`;
  const page = `${toReachableUrl(host, port)}/console`;
  return `${where} (${what}), console at ${page}, documentation at /docs`;
}
