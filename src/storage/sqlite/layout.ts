/** Checks that a file is the database of a petstore, and migrates it. A damaged file is refused, never repaired. */

import { unavailable } from '../../error.ts';
import type { OpenOptions, SqlValue } from '../engine.ts';
import { checkEnvironment, LIST_ENVIRONMENTS } from '../environment.ts';
import { APPLICATION_ID, findSteps, LAYOUT, refuseOlder } from '../migrations.ts';
import { CHECK_COLUMNS } from '../tables.ts';
import { SETTINGS, SqliteConnection } from './connection.ts';
import { createError, DAMAGED, ERROR, retryWhileBusy, toResultCode } from './errors.ts';

/** Earlier versions can lose commits when the WAL is reset (https://sqlite.org/wal.html#walresetbug). */
const VERSION_MIN = '3.51.3';

/** To check the pages of a larger file would delay the start. SQLite finds its damage when it reads a damaged page. */
const CHECKED_BYTES_MAX = 256 * 1024 * 1024;

/** Makes the file the database of a petstore. Resolves to the layout that it had; 0 if it was empty. */
export function prepare(connection: SqliteConnection, options: OpenOptions): Promise<number> {
  const { file } = connection;
  return retryWhileBusy(file, () => {
    checkVersion(connection);
    // Another process may be migrating; a transaction sees the layout before or after it.
    const found = connection.transact('begin', () => readLayout(connection));
    if (isInconsistent(connection, CHECKED_BYTES_MAX)) throw createError(file, DAMAGED);
    if (found === 0 && !options.create) {
      const message = `there is no petstore in ${file}: serve, keys create or pets import makes one`;
      throw unavailable(message);
    }
    if (found > 0) checkEnvironment(connection.run(LIST_ENVIRONMENTS), `sqlite:${file}`, options);
    refuseOlder(`the database ${file}`, found, options);
    if (options.olderLayout === 'keep' && found < LAYOUT) return found;
    connection.exec('pragma journal_mode = wal');
    connection.exec(SETTINGS);
    // Whoever only reads does not wait for a writer.
    const migrated =
      found === LAYOUT
        ? found
        : connection.transact('begin immediate', () => migrate(connection, options));
    checkColumns(connection);
    return migrated;
  });
}

/** @throws PetstoreError `unavailable` when a table or column is missing. */
export function checkColumns(connection: SqliteConnection): void {
  try {
    connection.run(CHECK_COLUMNS);
  } catch (error) {
    if (toResultCode(error) !== ERROR) throw error;
    const what = 'lacks a table or column that this program needs: restore it from a backup';
    throw createError(connection.file, what, error);
  }
}

function checkVersion(connection: SqliteConnection): void {
  const version = String(readValue(connection, 'select sqlite_version()'));
  if (version.localeCompare(VERSION_MIN, 'en', { numeric: true }) < 0) {
    const what = `it must be ${VERSION_MIN} or newer, which a newer Node brings`;
    throw unavailable(`SQLite ${version} is too old: ${what}`);
  }
}

/**
 * The number of the layout; 0 for an empty database.
 *
 * @throws PetstoreError `unavailable` when the file is of another program, is newer, or lost its tables.
 */
function readLayout(connection: SqliteConnection): number {
  const { file } = connection;
  const applicationId = Number(readValue(connection, 'pragma application_id'));
  const version = Number(readValue(connection, 'pragma user_version'));
  const isEmpty = readValue(connection, 'select 1 from sqlite_schema') === undefined;
  if (isEmpty && applicationId === 0 && version === 0) return 0;
  if (applicationId !== APPLICATION_ID) throw createError(file, 'belongs to another program');
  if (version > LAYOUT) {
    const what = `its layout is ${version}, this program knows up to ${LAYOUT}`;
    throw createError(file, `is of a newer petstore: ${what}`);
  }
  if (isEmpty) throw createError(file, DAMAGED);
  return version;
}

/** Whether the pages of the database are inconsistent, unless it is larger than `bytesMax`. */
export function isInconsistent(connection: SqliteConnection, bytesMax: number): boolean {
  const pages = Number(readValue(connection, 'pragma page_count'));
  const bytes = pages * Number(readValue(connection, 'pragma page_size'));
  return bytes <= bytesMax && readValue(connection, 'pragma quick_check(1)') !== 'ok';
}

/** Checks all pages of a copy, and makes it a single file. A message of damage names the file `told`. */
export function finishCopy(copy: string, told = copy): void {
  using connection = new SqliteConnection(copy, 0);
  // Nobody else has it open: without an -shm it needs less room.
  connection.exec('pragma locking_mode = exclusive');
  // In WAL mode, the copy could not be read from a folder that cannot be written.
  connection.exec('pragma journal_mode = delete');
  const isEmpty = readLayout(connection) === 0;
  if (isEmpty || isInconsistent(connection, Infinity)) throw createError(told, DAMAGED);
}

/** Executes the missing migrations, in a transaction that blocks other writers. Returns the layout that it had. */
export function migrate(connection: SqliteConnection, { onCommit }: OpenOptions = {}): number {
  // Another process may have migrated it since the first check.
  const found = readLayout(connection);
  if (found === LAYOUT) return found;
  for (const { sqlite } of findSteps(found)) connection.exec(sqlite);
  connection.exec(`pragma user_version = ${LAYOUT}`);
  onCommit?.();
  return found;
}

function readValue(connection: SqliteConnection, sql: string): SqlValue | undefined {
  return connection.run(sql)[0]?.[0];
}
