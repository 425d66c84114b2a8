/** From an address to an open store: the only file that knows both engines. */

import { existsSync } from 'node:fs';
import type { Store } from '../store.ts';
import { parseAddress } from './address.ts';
import { type CopyOptions, copyDatabase } from './copy.ts';
import type { Engine, OpenOptions } from './engine.ts';
import { createKeyStore } from './key-store.ts';
import { createPetStore } from './pet-store.ts';
import { writePrivateFile } from './private-file.ts';
import { startPurge } from './purge.ts';
import { openSqlite } from './sqlite/engine.ts';
import { finishCopy } from './sqlite/schema.ts';

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
  const stopPurge = options.serviceClock && startPurge(engine, options.serviceClock, options.warn);
  return {
    foundSchema: engine.foundSchema,
    pets,
    keys,
    readStatistics: () => engine.statistics,
    async check() {
      // A missing table fails only the statements of requests. No pet has this id, and no key this digest.
      await Promise.all([engine.check(), pets.find(0n), keys.find(new Uint8Array())]);
    },
    backup: (file) => writeBackup(engine, file),
    close() {
      stopPurge?.();
      return engine.close();
    },
  };
}

/**
 * Does the work on the store at an address. A file that does not exist yet gets its name only after the
 * work succeeded.
 *
 * @throws PetstoreError as openStore does, and `bad_request` when another process made the file meanwhile.
 */
export function fillStore<T>(address: string, work: (store: Store) => Promise<T>): Promise<T> {
  return fillDatabase(address, async (at) => use(await openStore(at, { create: true }), work));
}

async function fillDatabase<T>(address: string, fill: (address: string) => Promise<T>): Promise<T> {
  const place = parseAddress(address);
  if (place.kind === 'postgres' || existsSync(place.file)) return fill(address);
  return writePrivateFile(place.file, async (partial) => {
    const result = await fill(`sqlite:${partial}`);
    finishCopy(partial, place.file);
    return result;
  });
}

/** The result of the work on the resource, which is then closed. */
export async function use<Resource extends { close(): Promise<void> }, T>(
  resource: Resource,
  work: (resource: Resource) => Promise<T>,
): Promise<T> {
  try {
    return await work(resource);
  } finally {
    await resource.close();
  }
}

/**
 * Copies the store at one address into the store at another, as {@link copyDatabase} does.
 *
 * @throws PetstoreError also as openStore does.
 */
export async function copyStore(from: string, to: string, options?: CopyOptions): Promise<number> {
  return use(await openEngine(from, {}), (source) =>
    fillDatabase(to, async (at) =>
      use(await openEngine(at, { create: true }), (target) =>
        copyDatabase(source, target, options),
      ),
    ),
  );
}

/** Writes all that the database of the engine holds to a new SQLite file, and checks it. */
function writeBackup(engine: Engine, file: string): Promise<void> {
  return writePrivateFile(file, async (partial) => {
    if (engine.copyTo) return engine.copyTo(partial);
    await use(await openSqlite(partial, { create: true }), (copy) => copyDatabase(engine, copy));
    finishCopy(partial, file);
  });
}

async function openEngine(text: string, options: OpenOptions): Promise<Engine> {
  const address = parseAddress(text);
  if (address.kind === 'sqlite') return openSqlite(address.file, options);
  // A store on SQLite does not wait for the driver of PostgreSQL to load.
  const { openPostgres } = await import('./postgres/engine.ts');
  return openPostgres(address.url, options);
}
