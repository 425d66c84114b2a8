/** Whether a file is a petstore's database, and bringing it to this program's schema. Refuses, never repairs. */

import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { PetstoreError } from '../../error.ts';
import { APPLICATION_ID, SQLITE_MIGRATIONS } from '../migrations.ts';

/** Earlier versions can lose commits when a WAL is reset (https://sqlite.org/wal.html#walresetbug). */
const VERSION_MIN = '3.51.3';

/** Above this a check of every page would hold up the start; SQLite then finds damage where it reads. */
const CHECKED_BYTES_MAX = 256 * 1024 * 1024;

const FILE_MAGIC = 'SQLite format 3\0';

/** @throws PetstoreError `unavailable` when this SQLite is too old to be trusted. */
export function checkVersion(connection: DatabaseSync): void {
  const version = String(connection.prepare('select sqlite_version() as version').get()?.version);
  if (isOlder(version, VERSION_MIN)) {
    throw new PetstoreError(
      'unavailable',
      `SQLite ${version} is too old: it must be ${VERSION_MIN} or newer, which a newer Node brings`,
    );
  }
}

/** Whether the dotted version comes before the other. */
export function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) < 0;
}

/** @throws PetstoreError `unavailable` when the file is there, not empty and no SQLite database. */
export function checkFile(file: string): void {
  if (!existsSync(file)) return;
  if (!statSync(file).isFile()) {
    throw new PetstoreError('unavailable', `the database ${file} is not a file`);
  }
  const descriptor = openSync(file, 'r');
  try {
    const start = Buffer.alloc(FILE_MAGIC.length);
    const length = readSync(descriptor, start);
    if (length > 0 && start.toString('latin1') !== FILE_MAGIC) {
      throw new PetstoreError('unavailable', `the database ${file} is not an SQLite database`);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** @throws PetstoreError `unavailable` when the database is of another program or newer than this one. */
export function checkSchema(connection: DatabaseSync, file: string): void {
  const applicationId = pragma(connection, 'application_id');
  const version = Number(pragma(connection, 'user_version'));
  const isEmpty = connection.prepare('select 1 from sqlite_schema').get() === undefined;
  if (applicationId !== APPLICATION_ID && !(applicationId === 0 && version === 0 && isEmpty)) {
    throw new PetstoreError('unavailable', `the database ${file} belongs to another program`);
  }
  if (version > SQLITE_MIGRATIONS.length) {
    throw new PetstoreError(
      'unavailable',
      `the database ${file} is of a newer petstore: its schema is ${version}, this program knows up to ${SQLITE_MIGRATIONS.length}`,
    );
  }
}

/** @throws PetstoreError `unavailable` when pages of the database contradict each other. */
export function checkPages(connection: DatabaseSync, file: string): void {
  const bytes = Number(pragma(connection, 'page_count')) * Number(pragma(connection, 'page_size'));
  if (bytes <= CHECKED_BYTES_MAX && pragma(connection, 'quick_check(1)') !== 'ok') {
    throw new PetstoreError(
      'unavailable',
      `the database ${file} is damaged: restore it from a backup`,
    );
  }
}

/** Takes the steps that are missing. To be called in a transaction that locks out other writers. */
export function migrate(connection: DatabaseSync, file: string): void {
  // Another process may have been here since the first look.
  checkSchema(connection, file);
  const version = Number(pragma(connection, 'user_version'));
  if (version === SQLITE_MIGRATIONS.length) return;
  for (const step of SQLITE_MIGRATIONS.slice(version)) connection.exec(step);
  connection.exec(`pragma user_version = ${SQLITE_MIGRATIONS.length}`);
}

function pragma(connection: DatabaseSync, name: string): unknown {
  return Object.values(connection.prepare(`pragma ${name}`).get() ?? {})[0];
}
