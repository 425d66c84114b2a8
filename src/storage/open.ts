/** From a database's address to an open store; each engine knows how to open its own kind. */

import { PetstoreError } from '../error.ts';
import type { Store } from '../store.ts';
import type { Database } from './database.ts';
import { createKeyStore } from './keys.ts';
import { createPetStore } from './pets.ts';
import { openSqlite } from './sqlite.ts';

export interface OpenOptions {
  /** Whether a database that is not there yet is made. */
  readonly create: boolean;
}

/**
 * The store at an address: `sqlite:FILE` or `sqlite::memory:`.
 *
 * @throws PetstoreError `bad_request` for an address of no known kind, `unavailable` when the
 *   database cannot be used as it is; it is left untouched then.
 */
export async function openStore(address: string, options: OpenOptions): Promise<Store> {
  const database = await openDatabase(address, options);
  return {
    pets: createPetStore(database),
    keys: createKeyStore(database),
    check: () => database.check(),
    backup: (file) => database.backup(file),
    close: () => database.close(),
  };
}

function openDatabase(address: string, { create }: OpenOptions): Promise<Database> {
  const [, kind, rest] = /^(\w+):(.+)$/s.exec(address) ?? [];
  if (kind === 'sqlite' && rest !== undefined) return openSqlite(rest, { create });
  throw new PetstoreError('bad_request', 'the database must be sqlite:FILE or sqlite::memory:');
}
