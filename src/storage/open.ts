/** From an address to an open store: the only file that knows both engines. */

import type { Store } from '../store.ts';
import { parseAddress } from './address.ts';
import { writeBackup } from './backup.ts';
import { type CopyResult, copyDatabase, type OnCopyProgress } from './copy.ts';
import type { Engine } from './engine.ts';
import { createKeyStore } from './key-store.ts';
import { createPetStore } from './pet-store.ts';
import { startPurge } from './purge.ts';
import { finishCopy, openSqlite } from './sqlite/engine.ts';

/** The digest of no key: a SHA-256 has 32 bytes. */
const NO_DIGEST = new Uint8Array();

export interface OpenOptions {
  /** Whether a database that does not exist yet is created. */
  readonly create: boolean;
  /** The most connections to PostgreSQL. */
  readonly databaseConnections?: number;
  /** The seconds that a request may wait for a connection to PostgreSQL, and for its answer. */
  readonly databaseTimeout?: number;
  /** The clock by which expired idempotency keys are purged while the store is open; without one none is. */
  readonly purgeBy?: () => number;
}

/**
 * Opens the store at an address: `sqlite:FILE`, `sqlite::memory:` or `postgres://…`.
 *
 * @throws PetstoreError `bad_request` for an address that cannot be parsed, `unavailable` when the
 *   database cannot be used as it is; it is unchanged then.
 */
export async function openStore(address: string, options: OpenOptions): Promise<Store> {
  const engine = await openEngine(address, options);
  const pets = createPetStore(engine);
  const keys = createKeyStore(engine);
  const stopPurge = options.purgeBy && startPurge(engine, options.purgeBy);
  return {
    isNew: engine.isNew,
    pets,
    keys,
    readStatistics: () => engine.statistics,
    async check() {
      // The statements of requests: a table that is missing fails them, and nothing else.
      await Promise.all([engine.check(), pets.find(0n), keys.find(NO_DIGEST)]);
    },
    backup: (file, onProgress) =>
      writeBackup(
        engine,
        file,
        (copy) => openSqlite(copy, { create: true }),
        finishCopy,
        onProgress,
      ),
    close() {
      stopPurge?.();
      return engine.close();
    },
  };
}

/**
 * Copies a whole store, as of one moment, into an empty one, or nothing of it.
 *
 * @throws PetstoreError as openStore does, and `bad_request` when the target is not empty.
 */
export async function copyStore(
  { from, to }: { from: string; to: string },
  onProgress: OnCopyProgress,
): Promise<CopyResult> {
  const source = await openEngine(from, { create: false });
  try {
    const target = await openEngine(to, { create: true });
    try {
      return await copyDatabase(source, target, onProgress);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function openEngine(text: string, options: OpenOptions): Promise<Engine> {
  const address = parseAddress(text);
  if (address.kind === 'sqlite') return openSqlite(address.file, options);
  // Loaded only here, so that a store on SQLite does not wait for the driver of PostgreSQL.
  const { openPostgres } = await import('./postgres/engine.ts');
  return openPostgres(address.url, options);
}
