/** Starts a service: opens its log and its store, listens, says so, and stops on a signal. */

import cluster from 'node:cluster';
import { PetstoreError } from '../error.ts';
import { describeAddress, isMemoryAddress } from '../storage/address.ts';
import { SCHEMA } from '../storage/migrations.ts';
import type { Store } from '../store.ts';
import { announce } from './announce.ts';
import { checkEnvironment, openOwnStore } from './environment.ts';
import { ensureFirstKey } from './first-key.ts';
import { limitConnections } from './open-files.ts';
import { openLog } from './open-log.ts';
import { seed } from './seed.ts';
import type { ServeOptions } from './serve-options.ts';
import { type Service, toReachableUrl, toUrl } from './service.ts';
import { stopOnSignal } from './signals.ts';
import { VERSION } from './version.ts';
import { Workers } from './workers.ts';

/** Loads Fastify, which takes half of the time and memory of a start; the primary of several workers needs none. */
const loadListener = () => import('./listener.ts');

/** Resolves once the service listens; it then runs until a signal stops it. */
export async function serve(options: ServeOptions): Promise<void> {
  try {
    await start(options);
  } catch (error) {
    // The channel to the primary process would keep this worker alive.
    cluster.worker?.disconnect();
    throw error;
  }
}

async function start(options: ServeOptions): Promise<void> {
  const openedLog = openLog(options.logLevel);
  const { log } = openedLog;
  const { database } = options;
  if (options.workers > 1 && isMemoryAddress(database)) {
    throw new PetstoreError(
      'bad_request',
      'sqlite::memory: is for one process: --workers must be 1',
    );
  }
  const workers = new Workers(log);
  let store: Store | undefined;
  let service: Service | undefined;
  let admin: Service | undefined;
  let isStopping = false;
  const stopAll = async () => {
    await (service ?? workers).stop();
    await admin?.stop();
    await store?.close();
  };
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopAll();
    return stopped;
  };
  // Before it starts: a process that ended here without its workers would leave them behind.
  stopOnSignal(async () => {
    isStopping = true;
    log.info('stopping');
    await stop();
    return openedLog.close();
  });
  try {
    // Of several workers the primary purges, which serves no request.
    const clock = cluster.isWorker ? {} : { serviceClock: Date.now };
    store = await openOwnStore(options, { ...options, ...clock, warn: log.warn });
    const { foundSchema } = store;
    if (foundSchema > 0 && foundSchema < SCHEMA) {
      log.info(`migrated the store from schema ${foundSchema} to ${SCHEMA}`);
    }
    if (cluster.isPrimary && (await checkEnvironment(store, options))) {
      log.warn(
        `the store has keys of both environments: petstore copy --environment ${options.environment} makes one without the others`,
      );
    }
    const isSeeded = options.seed !== undefined && cluster.isPrimary;
    const samples = isSeeded ? [await seed(store, options.seed)] : [];
    const maxConnections = limitConnections(options, log);
    service =
      options.workers > 1 && cluster.isPrimary
        ? await workers.start(options)
        : await (await loadListener()).startListener(
            { ...options, maxConnections },
            store,
            openedLog,
          );
    const { readMetrics } = service;
    // Of several processes the primary has the admin listener.
    if (readMetrics && cluster.isPrimary) {
      const { startAdmin } = await loadListener();
      admin = await startAdmin(options, { store, log, readMetrics, isStopping: () => isStopping });
    }
    if (cluster.isWorker || isStopping) return;
    const firstKey = await ensureFirstKey(options, service.port, store);
    const where = `petstore ${VERSION} listens on ${toUrl(options.host, service.port)}`;
    const what = `${options.environment}, ${foundSchema === 0 ? 'new store' : 'store'} ${describeAddress(database)}`;
    const metrics = admin ? [`metrics at ${toUrl(options.adminHost, admin.port)}/metrics`] : [];
    const page = `${toReachableUrl(options.host, service.port)}/console`;
    const pages = `console at ${page}, documentation at /docs`;
    const own = [`${where} (${what}), ${pages}`, ...samples, ...metrics];
    announce({ ...firstKey, notes: [...own, ...firstKey.notes] }, openedLog);
  } catch (error) {
    // A signal's stop takes away what the start still needs, and a signal may come while a failed start is undone.
    if (!isStopping) await stop();
    if (!isStopping) throw error;
  }
}
