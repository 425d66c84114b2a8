/** From a database's address to an open store; each engine knows how to open its own kind. */

import { PetstoreError } from '../error.ts';
import type { Store } from '../store.ts';
import { backUp } from './backup.ts';
import { type Copied, copyDatabase, type OnCopied } from './copy.ts';
import type { Database } from './engine.ts';
import { createKeyStore } from './key-store.ts';
import { createPetStore } from './pet-store.ts';
import { openSqlite } from './sqlite/engine.ts';

export interface OpenOptions {
  /** Whether a database that is not there yet is made. */
  readonly create: boolean;
  /** The most connections to a server of databases. */
  readonly connections?: number;
}

/**
 * The store at an address: `sqlite:FILE`, `sqlite::memory:` or `postgres://…`.
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
    backup: (file) => backUp(database, file),
    close: () => database.close(),
  };
}

/**
 * Copies a whole store into an empty one, as of one moment, or nothing of it.
 *
 * @throws PetstoreError as openStore does, and `bad_request` when the target is not empty.
 */
export async function copyStore(
  { from, to }: { from: string; to: string },
  onCopied: OnCopied,
): Promise<Copied> {
  const source = await openDatabase(from, { create: false });
  try {
    const target = await openDatabase(to, { create: true });
    try {
      return await copyDatabase(source, target, onCopied);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** An address as it may be shown: without a user, a password and options; of one that is malformed, nothing. */
export function describeAddress(address: string): string {
  return address.replace(
    /^(postgres(?:ql)?:\/\/)(?:(?:[^@/?#]*@)?([^@?#]*)(?:\?[^@#]*)?|.*)$/s,
    '$1$2',
  );
}

async function openDatabase(address: string, options: OpenOptions): Promise<Database> {
  const [, kind, rest] = /^(\w+):(.+)$/s.exec(address) ?? [];
  if (kind === 'sqlite' && rest !== undefined) return openSqlite(rest, options);
  if (kind === 'postgres' || kind === 'postgresql') {
    // Whoever keeps to SQLite does not wait for the driver.
    const { openPostgres } = await import('./postgres/engine.ts');
    return openPostgres(address, options);
  }
  throw new PetstoreError(
    'bad_request',
    'the database must be sqlite:FILE, sqlite::memory: or postgres://USER:PASSWORD@HOST/NAME',
  );
}
