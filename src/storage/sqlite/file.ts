/** The file of a database: whether it can be opened, and whether it is still the file that was opened. */

import fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { unavailable } from '../../error.ts';
import { createPrivateFile, followLinks, refuseOldLog } from '../private-file.ts';
import type { SqliteConnection } from './connection.ts';
import { createError, WITHOUT_WAL } from './errors.ts';

/** Of the only page of a new database; the rest is in its -wal, if a byte of its header says so. */
const PAGE_BYTES = 4_096;
const ROLLBACK_MODE = 1;
const WAL_MODE = 2;
const WAL_TRIES = 40;
const WAL_TRY_MS = 50;

/**
 * Resolves to whether this process has made the file.
 *
 * @throws PetstoreError when it is not there and not to be created, is no file, or its -wal is missing or of another database.
 */
export async function prepareFile(file: string, create: boolean): Promise<boolean> {
  const stats = fs.statSync(file, { throwIfNoEntry: false });
  if (stats?.isDirectory()) throw createError(file, 'is a folder: name a file in it');
  if (stats?.isFile() === false) throw createError(file, 'is not a file');
  const hasWal = countBytes(`${followLinks(file)}-wal`) > 0;
  // In this order: a process that makes the database writes to its -wal last. SQLite would delete a -wal beside an empty file.
  if (hasWal && countBytes(file) === 0) {
    const what = 'is missing or empty, but its -wal file has pets';
    throw createError(file, `${what}: put the database back, and move all its files together`);
  }
  // A backup is in rollback mode until it is first opened, so it has no -wal.
  if (hasWal && readMode(file) === ROLLBACK_MODE) refuseOldLog(fs.realpathSync(file));
  if (stats !== undefined) {
    // An empty file becomes a new database, which would keep the mode of this file.
    if (create && stats.size === 0) fs.chmodSync(file, 0o600);
    // A process that makes the database at this moment is about to create its -wal.
    for (let tries = 0; lacksWal(file); tries += 1) {
      if (tries === WAL_TRIES) throw createError(file, WITHOUT_WAL);
      await setTimeout(WAL_TRY_MS);
    }
    return false;
  }
  if (!create) throw unavailable(`there is no database ${file}`);
  try {
    // SQLite would give a new file the mode of the umask. It gives the files of its log the mode of the database.
    createPrivateFile(followLinks(file));
    return true;
  } catch {
    // Another process has made it, or SQLite reports why it cannot be created.
    return false;
  }
}

function countBytes(file: string): number {
  return fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function lacksWal(file: string): boolean {
  const isNew = fs.statSync(file).size === PAGE_BYTES && readMode(file) === WAL_MODE;
  return isNew && !fs.existsSync(`${fs.realpathSync(file)}-wal`);
}

/** The file format write version (https://sqlite.org/fileformat2.html#file_format_version_numbers). */
function readMode(file: string): number | undefined {
  const handle = fs.openSync(file, 'r');
  try {
    const header = new Uint8Array(19);
    fs.readSync(handle, header);
    return header.at(-1);
  } finally {
    fs.closeSync(handle);
  }
}

/** Removes a file that this process has made, unless another process has added tables. */
export function removeNewFile(path: string): void {
  const file = followLinks(path);
  if (countBytes(file) > PAGE_BYTES || countBytes(`${file}-wal`) > 0) return;
  for (const end of ['-wal', '-shm', '']) fs.rmSync(file + end, { force: true });
}

/** The check throws when the file or its -wal was replaced: writes to the old file can be lost. An open -wal stays. */
export function createFileCheck(connection: SqliteConnection): () => void {
  const location = connection.location();
  if (location === null) return () => undefined;
  const files = [
    [
      connection.file,
      'stop the service, then put it back, or move its -wal away to use another file',
    ],
    // If the file is a link, SQLite has the -wal beside the database, not beside the link.
    [`${location}-wal`, 'stop the service by SIGTERM, which saves its pets, and start it again'],
  ].map(([path = '', remedy]) => ({ path, remedy, identity: findIdentity(path) }));

  return () => {
    for (const { path, remedy, identity } of files) {
      if (findIdentity(path) === identity) continue;
      const what = `the file ${path} of the database was removed or replaced`;
      throw unavailable(`${what}: ${remedy}`);
    }
  };
}

/** What distinguishes this file from any other of the same name; undefined when there is none. */
export function findIdentity(file: string): string | undefined {
  const stats = fs.statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}
