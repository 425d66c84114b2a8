/** The environment of a store: its first key decides it, because no key is ever removed. */

import { PetstoreError } from '../error.ts';
import { describeAddress } from '../storage/address.ts';
import type { OpenOptions } from '../storage/engine.ts';
import { SCHEMA } from '../storage/migrations.ts';
import { openStore } from '../storage/open.ts';
import type { Store } from '../store.ts';
import type { ServeOptions } from './serve-options.ts';

type Use = Pick<ServeOptions, 'database' | 'environment'>;

/**
 * Resolves to whether the store has keys of both environments: older releases could make both.
 *
 * @throws PetstoreError `bad_request` if it has only keys of the other environment.
 */
export async function checkEnvironment(
  { keys }: Store,
  { database, environment }: Use,
): Promise<boolean> {
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
export async function openOwnStore(
  use: Use,
  options: Omit<OpenOptions, 'create' | 'olderSchema'>,
): Promise<Store> {
  const open = (olderSchema: 'keep' | 'migrate') =>
    openStore(use.database, { ...options, create: true, olderSchema });
  const store = await open('keep');
  if (store.foundSchema >= SCHEMA) return store;
  try {
    if (store.foundSchema > 0) await checkEnvironment(store, use);
  } finally {
    await store.close();
  }
  return open('migrate');
}
