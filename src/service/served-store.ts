/** The store of a service: migrated when it is opened, and of the environment that its first key decided. */

import cluster from 'node:cluster';
import { PetstoreError } from '../error.ts';
import type { Log } from '../log.ts';
import { describeAddress, isMemoryAddress } from '../storage/address.ts';
import { SCHEMA } from '../storage/migrations.ts';
import { openStore } from '../storage/open.ts';
import type { Store } from '../store.ts';
import type { ServeOptions } from './serve-options.ts';

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
