/** From an address to an open store: the only file that knows both engines. */

import { existsSync, realpathSync } from 'node:fs';
import type { Store } from '../store.ts';
import { MEMORY_ADDRESS, parseAddress } from './address.ts';
import { type CopyOptions, copyDatabase, sayingSide } from './copy.ts';
import type { Engine, OpenOptions } from './engine.ts';
import { createKeyStore } from './key-store.ts';
import { createPetStore } from './pet-store.ts';
import { writePrivateFile } from './private-file.ts';
import { startPurge } from './purge.ts';
import { openSqlite } from './sqlite/engine.ts';
import { findIdentity } from './sqlite/file.ts';
import { finishCopy } from './sqlite/layout.ts';

/** @throws PetstoreError when the database cannot be used as it is; it is unchanged then. */
export async function openStore(address: string, options: OpenOptions): Promise<Store> {
  const engine = await openEngine(address, options);
  const stopPurge = options.isServed ? startPurge(engine) : undefined;
  const close = async () => {
    stopPurge?.();
    await engine[Symbol.asyncDispose]();
  };
  const { foundLayout, connectionsMax, counts, countConnections, check } = engine;
  return {
    ...{ foundLayout, connectionsMax, counts, countConnections, check },
    pets: createPetStore(engine),
    keys: createKeyStore(engine),
    backup: (file) => writeBackup(engine, file),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Does the work on the store at an address. A new file gets its name only after the work succeeded; with `dryRun` it is
 * not made, and the work gets an empty store.
 *
 * @param work gets whether the store is a new file, which is nothing until it gets its name.
 * @throws PetstoreError as openStore does, and `bad_request` when another process made the file meanwhile.
 */
export function fillStore<T>(
  address: string,
  dryRun: boolean | undefined,
  work: (store: Store, isNew: boolean) => Promise<T>,
): Promise<T> {
  const fill = async (at: string) => {
    await using store = await openStore(at, { create: !dryRun || at === MEMORY_ADDRESS });
    return await work(store, at !== address);
  };
  const file = findNewFile(address);
  if (file === undefined) return fill(address);
  return dryRun ? fill(MEMORY_ADDRESS) : fillFile(file, fill);
}

/** The file of an address, if it does not exist yet. */
function findNewFile(address: string): string | undefined {
  const place = parseAddress(address);
  return place.kind === 'sqlite' && !existsSync(place.file) ? place.file : undefined;
}

/** Whether the file is one of those that the open store at the address has. */
export function isFileOf(address: string, file: string): boolean {
  const place = parseAddress(address);
  const identity = findIdentity(file);
  if (place.kind !== 'sqlite' || identity === undefined) return false;
  const store = realpathSync(place.file);
  return ['', '-wal', '-shm'].some((end) => findIdentity(store + end) === identity);
}

function fillFile<T>(file: string, fill: (address: string) => Promise<T>): Promise<T> {
  return writePrivateFile(file, async (partial) => {
    const result = await fill(`sqlite:${partial}`);
    finishCopy(partial);
    return result;
  });
}

/** Copies a store as {@link copyDatabase} does. @throws PetstoreError also as openStore does. */
export async function copyStore(from: string, to: string, options?: CopyOptions): Promise<number> {
  const fill = async (address: string) => {
    await using source = await openEngine(from, { onlyReads: true }).catch(sayingSide('from'));
    const onCommit = address === to ? options?.onCommit : undefined;
    return await copyInto(source, address, { ...options, onCommit });
  };
  const file = findNewFile(to);
  return await (file === undefined ? fill(to) : fillFile(file, fill));
}

async function copyInto(source: Engine, address: string, options?: CopyOptions): Promise<number> {
  await using target = await openEngine(address, { create: true }).catch(sayingSide('to'));
  return await copyDatabase(source, target, options);
}

async function writeBackup(engine: Engine, file: string): Promise<void> {
  if (engine.copyTo) return writePrivateFile(file, engine.copyTo);
  await fillFile(file, (address) => copyInto(engine, address));
}

async function openEngine(text: string, options: OpenOptions): Promise<Engine> {
  const address = parseAddress(text);
  if (address.kind === 'sqlite') return openSqlite(address.file, options);
  // A store on SQLite does not wait for the driver of PostgreSQL to load.
  const { openPostgres } = await import('./postgres/engine.ts');
  return openPostgres(address.url, options);
}
