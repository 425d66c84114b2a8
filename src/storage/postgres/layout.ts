/** Migrates a database of PostgreSQL to this program's layout; several processes may try at the same time. */

import { unavailable } from '../../error.ts';
import type { OpenOptions } from '../engine.ts';
import { checkEnvironment, LIST_ENVIRONMENTS } from '../environment.ts';
import { APPLICATION_ID, findSteps, MIGRATIONS, refuseOlder } from '../migrations.ts';
import type { Connection } from './connection.ts';
import { INSUFFICIENT_PRIVILEGE, toCode } from './errors.ts';
import { transactionOn } from './transaction.ts';

/** The wait for the migration of another process. */
const MIGRATION_LOCK_SECONDS_MAX = 60;
/** While a step waits for a table, all later statements on the table wait behind it, with their connections. */
const TABLE_LOCK_MS_MAX = 200;

/**
 * Executes all migrations that are missing, or none. Resolves to the layout that it found; 0 for none.
 *
 * @throws PetstoreError `unavailable` when it may not make or migrate the layout, when a table is locked, or when the
 *   layout has a breaking step that this program does not know.
 */
export async function migrate(
  connection: Connection,
  address: string,
  options: OpenOptions,
  migrations = MIGRATIONS,
): Promise<number> {
  await checkEncoding(connection);
  const layout = migrations.at(-1)?.number ?? 0;
  const found = await readVersion(connection, layout);
  if (found === 0 && !options.create) {
    throw unavailable(
      'there is no petstore in this database: serve, keys create or pets import makes one',
    );
  }
  if (found > 0) checkEnvironment(await connection.run(LIST_ENVIRONMENTS), address, options);
  refuseOlder('the database', found, options);
  if (options.olderLayout === 'keep' || found >= layout) return found;
  try {
    // Each statement must see what others committed while it waited for the lock.
    return await transactionOn(connection, 'shared', () =>
      execute(connection, migrations, options),
    );
  } catch (error) {
    if (found === 0 || toCode(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    const what = `the upgrade of the database from layout ${found} to ${layout}`;
    throw unavailable(`${what} is pending: run petstore migrate as the owner of its tables`);
  }
}

/** Executes the steps that are missing, one process at a time. Resolves to the layout that it found. */
async function execute(
  connection: Connection,
  migrations: typeof MIGRATIONS,
  { onCommit }: OpenOptions,
): Promise<number> {
  await connection.run(`set local lock_timeout = '${MIGRATION_LOCK_SECONDS_MAX}s'`);
  await connection.run('select pg_advisory_xact_lock(?)', APPLICATION_ID);
  // Another process may have migrated it since the first check.
  const layout = migrations.at(-1)?.number ?? 0;
  const found = await readVersion(connection, layout);
  if (found >= layout) return found;
  await connection.run(`set local lock_timeout = '${TABLE_LOCK_MS_MAX}ms'`);
  for (const { postgres } of findSteps(found, migrations)) await connection.run(postgres);
  // A program that knows fewer steps reads `compatible`.
  const compatible = migrations.findLast(({ breaking }) => breaking)?.number ?? 0;
  const update = 'update petstore_schema set version = ?, compatible = ?';
  await connection.run(update, layout, compatible);
  onCommit?.();
  return found;
}

async function checkEncoding(connection: Connection): Promise<void> {
  const [row] = await connection.run('show server_encoding');
  if (row?.[0] === 'UTF8') return;
  throw unavailable(`the database has the encoding ${row?.[0]}: it must be UTF8`);
}

async function readVersion(connection: Connection, known: number): Promise<number> {
  // to_regclass alone uses a cache, which may lack a table that another session has just created. To read a table
  // refreshes the cache.
  const [found] = await connection.run(
    "select relname from pg_class where oid = to_regclass('petstore_schema')",
  );
  if (found === undefined) return 0;
  const [row = []] = await connection.run('select * from petstore_schema');
  // Layout 2 has no second column.
  const [version = 0, compatible = version] = row.map(Number);
  if (compatible <= known || version <= known) return version;
  const what = `its layout is ${version}, this program knows up to ${known}`;
  throw unavailable(`the database is of a newer petstore: ${what}`);
}
