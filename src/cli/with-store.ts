/** Opens a store for one command, and says which one. */

import { PetstoreError } from '../error.ts';
import { describeAddress, isMemoryAddress } from '../storage/address.ts';
import type { OpenOptions } from '../storage/engine.ts';
import { openStore, use } from '../storage/open.ts';
import type { Store } from '../store.ts';
import { say, toOneLine } from './output.ts';

export interface StoreOptions {
  readonly database: string;
}

export interface PrintOptions extends StoreOptions {
  readonly json: boolean;
}

/** @param options only a command that adds to a store may create it. */
export async function withStore(
  { database }: StoreOptions,
  work: (store: Store) => Promise<void>,
  options: OpenOptions = {},
): Promise<void> {
  refuseMemory(database);
  await use(await openStore(database, options), async (store) => {
    await work(store);
    say(describeStore(database, store));
  });
}

export function describeStore(database: string, { foundSchema }: Store): string {
  const what = foundSchema === 0 ? 'New store' : 'Store';
  return toOneLine(`${what}: ${describeAddress(database)}`);
}

/** @throws PetstoreError `bad_request` for a database in memory, which would end with the command. */
export function refuseMemory(database: string): void {
  if (!isMemoryAddress(database)) return;
  throw new PetstoreError('bad_request', 'sqlite::memory: keeps nothing: name a file');
}
