/** Migrates a database of PostgreSQL to this program's schema; several processes may try at the same time. */

import { PetstoreError } from '../../error.ts';
import type { Connection } from './connection.ts';
import { MIGRATIONS } from './migrations.ts';

/** The number of the advisory lock that a migration holds: "Pets" in ASCII. */
const LOCK = 0x50657473;
const LOCK_SECONDS_MAX = 60;
/** Below the time that statements of requests have. */
const TABLE_LOCK_MS_MAX = 500;

/**
 * Executes the migrations that are missing, all or none. Resolves to whether there was no petstore yet.
 *
 * @throws PetstoreError `unavailable` when the schema is newer, or missing and not to be created.
 */
export async function migrate(
  connection: Connection,
  { create }: { create: boolean },
): Promise<boolean> {
  await checkEncoding(connection);
  const version = await readVersion(connection);
  if (version === MIGRATIONS.length) return false;
  if (version === 0 && !create) {
    throw new PetstoreError(
      'unavailable',
      'there is no petstore in this database: serve, keys create or pets import makes one',
    );
  }
  // Each statement must see what others committed while it waited for the lock.
  await connection.transact('read committed', async () => {
    await connection.runUnprepared('set local statement_timeout = 0');
    await connection.runUnprepared(`set local lock_timeout = '${LOCK_SECONDS_MAX}s'`);
    await connection.runUnprepared('select pg_advisory_xact_lock(?)', LOCK);
    // A step that waits for a table blocks all statements behind it: it rather fails soon.
    await connection.runUnprepared(`set local lock_timeout = '${TABLE_LOCK_MS_MAX}ms'`);
    // Another process may have migrated it since the first check.
    for (const step of MIGRATIONS.slice(await readVersion(connection))) {
      await connection.runUnprepared(step);
    }
    await connection.runUnprepared('update petstore_schema set version = ?', MIGRATIONS.length);
  });
  return version === 0;
}

/** @throws PetstoreError `unavailable` when the encoding cannot hold every name. */
async function checkEncoding(connection: Connection): Promise<void> {
  const [row] = await connection.runUnprepared('show server_encoding');
  if (row?.[0] === 'UTF8') return;
  throw new PetstoreError(
    'unavailable',
    `the database has the encoding ${row?.[0]}: it must be UTF8`,
  );
}

/** The version of the schema; 0 when there is none. */
async function readVersion(connection: Connection): Promise<number> {
  // to_regclass uses the session's catalog cache, which may lack a table that another session has just
  // created; a query that reads a table, as this one, refreshes the cache first.
  const [found] = await connection.runUnprepared(
    "select relname from pg_class where oid = to_regclass('petstore_schema')",
  );
  if (found === undefined) return 0;
  const [row] = await connection.runUnprepared('select version from petstore_schema');
  const version = Number(row?.[0]);
  if (version <= MIGRATIONS.length) return version;
  throw new PetstoreError(
    'unavailable',
    `the database is of a newer petstore: its schema is ${version}, this program knows up to ${MIGRATIONS.length}`,
  );
}
