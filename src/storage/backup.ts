/** A copy of a store as a new file, which is there whole or not at all. */

import { randomUUID } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PetstoreError } from '../error.ts';
import { copyDatabase } from './copy.ts';
import type { Database } from './engine.ts';
import { openSqlite } from './sqlite/engine.ts';

/**
 * Writes a database of SQLite with all that this one keeps.
 *
 * @throws PetstoreError `bad_request` when the file exists or cannot be written.
 */
export function backUp(database: Database, file: string): Promise<void> {
  return writeNewFile(file, async (partial) => {
    if (database.copyTo) return database.copyTo(partial);
    const copy = await openSqlite(partial, { create: true });
    try {
      await copyDatabase(database, copy);
    } finally {
      await copy.close();
    }
  });
}

/** @param write fills an empty file, which gets its name when all of it is on the disk. */
async function writeNewFile(
  file: string,
  write: (partial: string) => Promise<void>,
): Promise<void> {
  const partial = `${file}.${randomUUID()}.partial`;
  try {
    await (await open(partial, 'wx')).close();
    await write(partial);
    await syncToDisk(partial);
    // Unlike a rename, a link never takes the place of a file that is there.
    await link(partial, file);
    await syncToDisk(dirname(file));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new PetstoreError('bad_request', `${file} exists already`, { cause });
    }
    if (cause instanceof PetstoreError) throw cause;
    throw new PetstoreError(
      'bad_request',
      `${file} cannot be written: its folder must exist and be writable, with room for the copy`,
      { cause },
    );
  } finally {
    await rm(partial, { force: true });
  }
}

async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
