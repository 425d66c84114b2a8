/** Starts a service: opens its log and its store, listens, says so; stops on a signal. */

import cluster from 'node:cluster';
import { fstatSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { generatePets } from '../sample.ts';
import type { Store } from '../store.ts';
import { type OpenLog, openLog } from './open-log.ts';
import type { ServeOptions } from './serve-options.ts';
import { ensureFirstKey, openServedStore, requireKey, watchStore } from './served-store.ts';
import {
  describeFirstKey,
  describeService,
  type Service,
  spellKeysCreate,
  warnAtStart,
} from './service.ts';
import { startWorkers, stopWorkers } from './workers.ts';

/** Signals within this time count as one: runtime/node.cjs sends a Ctrl-C a second time. */
const SAME_SIGNAL_MS = 1_000;
const KEY_MS_MAX = 1_000;
const STANDARD_OUTPUT = 1;

/** Loads Fastify, half of the time and memory of a start: the primary of workers needs none. */
const loadListener = () => import('./listener.ts');

/** What a stop ends: what the start has opened so far. */
interface Running {
  store?: Store;
  service?: Service;
  admin?: Service;
  firstKey?: Promise<string | undefined>;
  isStopping: boolean;
}

/** Resolves when the service listens. The service runs until a signal stops it. */
export async function serve(options: ServeOptions): Promise<void> {
  const openedLog = openLog(options.logLevel);
  const running: Running = { isStopping: false };
  const onSignal = async () => {
    if (running.isStopping) return;
    running.isStopping = true;
    // A later signal ends the process at once.
    setTimeout(() => process.off('SIGTERM', onSignal).off('SIGINT', onSignal), SAME_SIGNAL_MS);
    openedLog.log.info('stopping');
    await stopAll(running);
    // A first key that is made by now would never be shown again.
    await Promise.race([running.firstKey?.catch(() => undefined), sleep(KEY_MS_MAX)]);
    if (await openedLog.close()) process.exit(0);
    // `process.exit` would wait for a write to a pipe that nobody reads.
    process.kill(process.pid, 'SIGKILL');
  };
  // Before the start: a signal during the start must also end the workers.
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  try {
    await start(options, running, openedLog);
  } catch (error) {
    // The stop by a signal makes the start fail.
    if (running.isStopping) return;
    running.isStopping = true;
    await stopAll(running);
    throw error;
  }
}

async function stopAll(running: Running): Promise<void> {
  await (running.service?.stop ?? stopWorkers)();
  await running.admin?.stop();
  await running.store?.close();
}

async function start(options: ServeOptions, running: Running, openedLog: OpenLog): Promise<void> {
  const { log } = openedLog;
  const store = await openServedStore(options, log);
  running.store = store;
  if (options.seed !== undefined && cluster.isPrimary) await addSamples(store, options.seed, log);
  const hasWorkers = options.workers > 1 && cluster.isPrimary;
  const isStopping = () => running.isStopping;
  const served = requireKey(store, options);
  const service = hasWorkers
    ? await startWorkers(options, log, isStopping)
    : await (await loadListener()).startListener(options, served, openedLog, isStopping);
  running.service = service;
  // Each process finds that its server takes no more writes; one tells it.
  watchStore(store, cluster.isPrimary ? log.warn : () => undefined, isStopping);
  const { readMetrics } = service;
  // The primary has the admin listener for all workers.
  if (readMetrics && cluster.isPrimary) {
    const { startAdmin } = await loadListener();
    running.admin = await startAdmin(options, { store: served, log, readMetrics, isStopping });
  }
  if (cluster.isWorker || running.isStopping) return;
  running.firstKey = ensureFirstKey(options, store, log);
  const firstKey = await running.firstKey;
  if (firstKey) warnIfUnseen(options, log);
  if (running.isStopping) {
    if (firstKey) process.stdout.write(describeFirstKey(firstKey, options, undefined));
    return;
  }
  warnAtStart(options, log);
  // All lines are written together: a script that waits for the first line also reads the key.
  process.stdout.cork();
  openedLog.say(...describeService(options, store, service, running.admin));
  // Not by `say`: the log must have no key.
  if (firstKey) process.stdout.write(describeFirstKey(firstKey, options, service));
  process.stdout.uncork();
}

/** Warns if standard output cannot be written: no later start shows the key. */
function warnIfUnseen(options: ServeOptions, { warn }: Log): void {
  const what =
    'the first key was not shown, since standard output is full, closed or /dev/null: revoke it (see keys list)';
  const tell = () => warn(`${what}, and make another: ${spellKeysCreate(options)}`);
  // In place of the line of other commands, which is no JSON.
  process.stdout.removeAllListeners('error').on('error', tell);
  // In place of one that is closed, Node has opened this file.
  const nowhere = statSync('/dev/null', { throwIfNoEntry: false });
  if (fstatSync(STANDARD_OUTPUT).rdev === nowhere?.rdev) tell();
}

async function addSamples({ pets }: Store, count: number, log: Log): Promise<void> {
  const { added } = await pets.merge(generatePets(count), { onlyFirst: true });
  if (added > 0) log.info(`${count} sample pets are added`);
  else log.info('no sample pets are added: the store has pets, or had some');
}
