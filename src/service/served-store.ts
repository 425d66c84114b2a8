/** The store of a service: opens and migrates it, checks its environment, and makes its first key. */

import cluster from 'node:cluster';
import { createApiKey, getKeyState } from '../api-key.ts';
import { PetstoreError } from '../error.ts';
import type { Log } from '../log.ts';
import { describeAddress, isMemoryAddress, parseAddress } from '../storage/address.ts';
import { SCHEMA } from '../storage/migrations.ts';
import { openStore } from '../storage/open.ts';
import type { Store } from '../store.ts';
import type { ServeOptions } from './serve-options.ts';
import { type Announcement, toReachableUrl } from './service.ts';

/**
 * Resolves to whether the store has keys of both environments: older releases could make both.
 *
 * @throws PetstoreError `bad_request` if it has only keys of the other environment.
 */
export async function checkEnvironment(
  { keys }: Store,
  { database, environment }: Pick<ServeOptions, 'database' | 'environment'>,
): Promise<boolean> {
  // No key is ever removed.
  const found = await keys.listEnvironments();
  if (found.length === 0 || found.includes(environment)) return found.length > 1;
  const [other] = found;
  throw new PetstoreError(
    'bad_request',
    `the store ${describeAddress(database)} is of ${other}, not of ${environment}: give --environment ${other}, or another --database, which petstore copy --environment ${environment} can make`,
  );
}

/**
 * Opens the store of a service. Migrates it, unless the store is of the other environment.
 *
 * @throws PetstoreError see {@link openStore} and {@link checkEnvironment}.
 */
export async function openServedStore(options: ServeOptions, log: Log): Promise<Store> {
  const { database, environment, workers } = options;
  if (workers > 1 && isMemoryAddress(database)) {
    const message = 'sqlite::memory: is for one process: --workers must be 1';
    throw new PetstoreError('bad_request', message);
  }
  // The primary checks and purges for all workers, because it serves no request.
  const { isPrimary } = cluster;
  const clock = isPrimary ? { serviceClock: Date.now } : {};
  const open = (olderSchema: 'keep' | 'migrate') =>
    openStore(database, { ...options, ...clock, warn: log.warn, create: true, olderSchema });
  const found = await open('keep');
  try {
    if (isPrimary && found.foundSchema > 0 && (await checkEnvironment(found, options))) {
      log.warn(
        `the store has keys of both environments: petstore copy --environment ${environment} makes a store without the other keys`,
      );
    }
  } catch (error) {
    await found.close();
    throw error;
  }
  if (found.foundSchema >= SCHEMA) return found;
  await found.close();
  const store = await open('migrate');
  // Another process may have migrated it meanwhile.
  if (store.foundSchema > 0 && store.foundSchema < SCHEMA) {
    log.info(`migrated the store from schema ${store.foundSchema} to ${SCHEMA}`);
  }
  return store;
}

/**
 * In staging the first start makes a key; otherwise the start says how to make a key. In production no key is ever
 * printed. Resolves to what the start says about keys.
 */
export async function ensureFirstKey(
  { environment, host, database }: ServeOptions,
  port: number,
  store: Store,
): Promise<Announcement> {
  const now = Date.now();
  const listKeys = async () =>
    (await store.keys.list()).filter((key) => key.environment === environment);
  const keys = await listKeys();
  if (keys.some((key) => getKeyState(key, now) === 'active')) return { notes: [] };
  if (environment === 'production' || keys.length > 0) {
    const isFile = parseAddress(database).kind === 'sqlite';
    const how = isFile ? '' : ', with the address of this store in PETSTORE_DATABASE';
    const option = isFile ? ` --database ${quote(describeAddress(database))}` : '';
    const command = `${describeCommand()} keys create --name NAME --environment ${environment}${option}`;
    return { notes: [`No ${environment} key is active. To make one${how}:\n  ${command}`] };
  }
  const { text, newKey } = createApiKey({ name: 'first', environment }, now);
  const { id } = await store.keys.add(newKey);
  // Processes that start at once each make a key. They all see the key with the least id: it stays.
  const [first = { id }] = await listKeys().catch(() => []);
  if (first.id !== id) {
    await store.keys.revoke(id, now);
    return { notes: [] };
  }
  const curl = `curl -H 'Authorization: Bearer ${text}' ${toReachableUrl(host, port)}/v1/pets`;
  return {
    notes: [],
    secret: `The first key, which is shown only now, and how to use it:\n  ${curl}`,
  };
}

/** How a shell runs this program again. */
function describeCommand(): string {
  const [, path = ''] = process.argv;
  return path.endsWith('.ts') ? 'npm run -s petstore --' : quote(path);
}

function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
