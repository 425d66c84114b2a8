/** The store of a service: opens and migrates it, checks its environment, and makes its first key. */

import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApiKey, getKeyState } from '../api-key.ts';
import { PetstoreError, unavailable } from '../error.ts';
import type { Log } from '../log.ts';
import { describeAddress } from '../storage/address.ts';
import { LAYOUT } from '../storage/migrations.ts';
import { openStore } from '../storage/open.ts';
import type { Store } from '../store.ts';
import type { ServeOptions } from './serve-options.ts';
import { spellKeysCreate } from './service.ts';

const WATCH_MS = 1_000;
const TRY_PAUSE_MS = 500;
const BACK = 'the database is back';

/** @throws PetstoreError see {@link openStore}. */
export async function openServedStore(options: ServeOptions, log: Log): Promise<Store> {
  const store = await openStore(options.database, {
    ...options,
    // A worker that replaces another one would make an empty store where the file is away.
    create: cluster.isPrimary,
    olderLayout: 'migrate',
    warn: log.warn,
    // The primary checks and purges for all workers, because it serves no request.
    ...(cluster.isWorker ? { environment: undefined } : { isServed: true }),
  });
  const { foundLayout } = store;
  if (foundLayout > 0 && foundLayout < LAYOUT) {
    log.info(`migrated the store from layout ${foundLayout} to ${LAYOUT}`);
  }
  return store;
}

/** A store without a production key is new, lost, mistyped or of staging: its check fails until a key is made. */
export function requireKey(store: Store, { environment }: ServeOptions): Store {
  let hasKey = environment === 'staging';
  const check = async () => {
    await store.check();
    hasKey ||= (await store.keys.list()).some((key) => key.environment === environment);
    if (!hasKey) throw unavailable('the store has no production key');
  };
  return { ...store, check };
}

/** Warns when PostgreSQL is away, of each new cause, and when it is back, also if no request comes. */
export async function watchStore(
  store: Pick<Store, 'check' | 'countConnections'>,
  warn: Log['warn'],
  isStopping: () => boolean,
  pauseMs = WATCH_MS,
): Promise<void> {
  for (let told: string | undefined; store.countConnections !== undefined; ) {
    await sleep(pauseMs, undefined, { ref: false });
    const error: unknown = await store.check().catch((caught) => caught);
    if (isStopping()) return;
    const cause = error instanceof Error ? error.message : undefined;
    // The cause may change: a server that was away returns as a standby.
    if (cause !== told) warn(cause ? `${cause}; requests may be 503 until it is back` : BACK);
    told = cause;
  }
}

/** Resolves to the new key at the first start in staging. Else the log says how to make a key, if none is active. */
export async function ensureFirstKey(
  options: ServeOptions,
  store: Store,
  log: Log,
): Promise<string | undefined> {
  const { environment, database } = options;
  const now = Date.now();
  const listKeys = async () =>
    (await store.keys.list()).filter((key) => key.environment === environment);
  const keys = await tryUntil(now + options.startTimeout * 1_000, listKeys);
  if (keys.some((key) => getKeyState(key, now) === 'active')) return undefined;
  if (environment === 'production' || keys.length > 0) {
    const what =
      keys.length > 0
        ? `no ${environment} key is active`
        : `no key was ever made in ${describeAddress(database)}, so /readyz is 503`;
    log.warn(`${what}; to make one: ${spellKeysCreate(options)}`);
    return undefined;
  }
  const { text, newKey } = createApiKey({ name: 'first', environment }, now);
  const { id } = await store.keys.add(newKey);
  // Processes that start at once each make a key. They all see the key with the least id: it stays.
  const [first = { id }] = await listKeys().catch(() => []);
  if (first.id === id) return text;
  await store.keys.revoke(id, now);
  return undefined;
}

/** The database may be slow, or away again. */
async function tryUntil<T>(deadline: number, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PetstoreError) || Date.now() >= deadline) throw error;
    }
    await sleep(TRY_PAUSE_MS);
  }
}
