/** Bringing a database of PostgreSQL to this program's schema, also when ten programs want to at once. Refuses, never repairs. */

import { PetstoreError } from '../../error.ts';
import { POSTGRES_MIGRATIONS } from '../migrations.ts';
import type { Connection } from './pool.ts';

/** Names the advisory lock of those who migrate: "Pets" in ASCII. */
const LOCK = 0x50657473;
const LOCK_SECONDS_MAX = 60;

/**
 * Takes the steps that are missing, all or none.
 *
 * @throws PetstoreError `unavailable` when the schema is newer, or missing and not to be made.
 */
export async function migratePostgres(
  connection: Connection,
  { create }: { create: boolean },
): Promise<void> {
  await checkEncoding(connection);
  const version = await readVersion(connection);
  if (version === POSTGRES_MIGRATIONS.length) return;
  if (version === 0 && !create) {
    throw new PetstoreError(
      'unavailable',
      'there is no petstore in this database: serve, keys create or pets import makes one',
    );
  }
  // Each statement must see what was made while it waited, whatever the database's default is.
  await connection.transact('begin isolation level read committed', async () => {
    await connection.runOnce('set local statement_timeout = 0');
    await connection.runOnce(`set local lock_timeout = '${LOCK_SECONDS_MAX}s'`);
    await connection.runOnce('select pg_advisory_xact_lock(?)', LOCK);
    // Another process may have been here since the first look.
    for (const step of POSTGRES_MIGRATIONS.slice(await readVersion(connection))) {
      await connection.runOnce(step);
    }
    await connection.runOnce('update petstore_schema set version = ?', POSTGRES_MIGRATIONS.length);
  });
}

/** @throws PetstoreError `unavailable` when there are names that the database could not keep. */
async function checkEncoding(connection: Connection): Promise<void> {
  const [row] = await connection.runOnce('show server_encoding');
  if (row?.[0] === 'UTF8') return;
  throw new PetstoreError(
    'unavailable',
    `the database has the encoding ${row?.[0]}: it must be UTF8`,
  );
}

/** The schema that is there; 0 for none. */
async function readVersion(connection: Connection): Promise<number> {
  // To read a table makes the session hear of new ones; to_regclass alone goes by what it knows.
  const [found] = await connection.runOnce(
    "select relname from pg_class where oid = to_regclass('petstore_schema')",
  );
  if (found === undefined) return 0;
  const [row] = await connection.runOnce('select version from petstore_schema');
  const version = Number(row?.[0]);
  if (version <= POSTGRES_MIGRATIONS.length) return version;
  throw new PetstoreError(
    'unavailable',
    `the database is of a newer petstore: its schema is ${version}, this program knows up to ${POSTGRES_MIGRATIONS.length}`,
  );
}
