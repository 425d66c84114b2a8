/** Checks that a file is a petstore's database, and migrates it to this program's schema. Refuses a damaged one, never repairs it. */

import type { DatabaseSync } from 'node:sqlite';
import { PetstoreError } from '../../error.ts';
import { APPLICATION_ID, MIGRATIONS } from '../migrations.ts';
import { SETTINGS, type SqliteConnection } from './connection.ts';
import { createDamageError, retryWhileBusy } from './errors.ts';

/** Earlier versions can lose commits when the WAL is reset (https://sqlite.org/wal.html#walresetbug). */
const VERSION_MIN = '3.51.3';

/** A larger file is not checked page by page, which would delay the start: SQLite then finds damage when it reads a page. */
const CHECKED_BYTES_MAX = 256 * 1024 * 1024;

/** Makes it a petstore's database; resolves to whether it was empty. */
export async function prepare(connection: SqliteConnection, file: string): Promise<boolean> {
  await retryWhileBusy(file, () => {
    checkVersion(connection);
    // In one transaction: another process may be migrating just now.
    connection.transact('begin', () => checkSchema(connection, file));
    checkPages(connection, file);
  });
  return retryWhileBusy(file, () => {
    connection.exec('pragma journal_mode = wal');
    connection.exec(SETTINGS);
    return connection.transact('begin immediate', () => migrate(connection, file));
  });
}

/** @throws PetstoreError `unavailable` when this SQLite can lose commits. */
function checkVersion(connection: DatabaseSync): void {
  const version = String(readValue(connection, 'select sqlite_version()'));
  if (isOlder(version, VERSION_MIN)) {
    throw new PetstoreError(
      'unavailable',
      `SQLite ${version} is too old: it must be ${VERSION_MIN} or newer, which a newer Node brings`,
    );
  }
}

/** Whether one dotted version is older than the other. */
function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) < 0;
}

/** @throws PetstoreError `unavailable` when the database is of another program, newer than this one, or lost its tables. */
function checkSchema(connection: DatabaseSync, file: string): void {
  const applicationId = Number(readValue(connection, 'pragma application_id'));
  const version = Number(readValue(connection, 'pragma user_version'));
  const isEmpty = readValue(connection, 'select 1 from sqlite_schema') === undefined;
  if (isEmpty && applicationId === 0 && version === 0) return;
  if (applicationId !== APPLICATION_ID) {
    throw new PetstoreError('unavailable', `the database ${file} belongs to another program`);
  }
  if (version > MIGRATIONS.length) {
    throw new PetstoreError(
      'unavailable',
      `the database ${file} is of a newer petstore: its schema is ${version}, this program knows up to ${MIGRATIONS.length}`,
    );
  }
  if (isEmpty) throw createDamageError(file);
}

/**
 * @param file the one that is told.
 * @throws PetstoreError `unavailable` when the pages of the database are inconsistent.
 */
export function checkPages(
  connection: DatabaseSync,
  file: string,
  bytesMax = CHECKED_BYTES_MAX,
): void {
  const bytes =
    Number(readValue(connection, 'pragma page_count')) *
    Number(readValue(connection, 'pragma page_size'));
  if (bytes <= bytesMax && readValue(connection, 'pragma quick_check(1)') !== 'ok') {
    throw createDamageError(file);
  }
}

/**
 * Executes the migrations that are missing. To be called in a transaction that blocks other writers.
 *
 * @returns whether the database was empty before.
 */
export function migrate(connection: DatabaseSync, file: string): boolean {
  // Another process may have migrated it since the first check.
  checkSchema(connection, file);
  const version = Number(readValue(connection, 'pragma user_version'));
  if (version === MIGRATIONS.length) return false;
  for (const { number, sqlite } of MIGRATIONS) if (number > version) connection.exec(sqlite);
  connection.exec(`pragma user_version = ${MIGRATIONS.length}`);
  return version === 0;
}

/** The only value of a query; undefined if it has no row. A connection may read rows as arrays or as objects. */
function readValue(connection: DatabaseSync, sql: string): unknown {
  return Object.values(connection.prepare(sql).get() ?? {})[0];
}
