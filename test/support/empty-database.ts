/** Empty databases of PostgreSQL, their stores, and sessions beside them. */

import { test } from 'node:test';
import pg from 'pg';
import type { OpenOptions } from '../../src/storage/engine.ts';
import { openStore } from '../../src/storage/open.ts';
import { Connection } from '../../src/storage/postgres/connection.ts';
import { parseHosts } from '../../src/storage/postgres/hosts.ts';
import type { Store } from '../../src/store.ts';
import { createTestDatabase, PATIENT } from './postgres.ts';
import { queryOnce } from './postgres-cluster.ts';
import { until } from './until.ts';

/** Takes the next id of a pet as a create does, with the lock that announces it. */
export const ADD = `select pg_advisory_xact_lock_shared(cast(cast('pets_id' as regclass) as int),
    cast(case when is_called then last_value else 0 end as int)) from pets_id;
  insert into pets values (nextval('pets_id'), 'late', 1)`;

const WAITING = `select from pg_stat_activity
  where (wait_event_type = 'Lock' or wait_event = 'PgSleep') and datname = current_database()`;

export type EmptyDatabase = Awaited<ReturnType<typeof createEmptyDatabase>>;

/** An empty database; its stores are closed at the end. */
export async function createEmptyDatabase() {
  const stack = new AsyncDisposableStack();
  const { address } = stack.use(await createTestDatabase());
  const query = async (sql: string): Promise<Record<string, unknown>[]> =>
    (await queryOnce(address, sql)).rows;
  return {
    address,
    query,
    /** Resolves when so many of its sessions wait for a lock, or sleep. */
    untilWaiting: (count: number) => until(async () => (await query(WAITING)).length === count),
    async connect(): Promise<Connection> {
      const connection = new Connection(parseHosts(`${address}?sslmode=disable`), {});
      stack.defer(() => connection.end());
      await connection.connect();
      return connection;
    },
    async open({ query = '', ...options }: Partial<OpenOptions> & { query?: string } = {}) {
      return stack.use(await openStore(address + query, { create: true, ...PATIENT, ...options }));
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

type Work = (pets: Store['pets'], database: EmptyDatabase, store: Store) => Promise<void>;

/** The function `test` for tests that have a new store each, opened with these options. */
export function testOnPostgres(options: Partial<OpenOptions> = {}) {
  return (name: string, work: Work): void => {
    void test(name, async () => {
      await using database = await createEmptyDatabase();
      const store = await database.open(options);
      await work(store.pets, database, store);
    });
  };
}

/** Runs SQL in the transaction of another session; `await using` rolls it back unless it has ended. */
export async function holdInSession({ address }: { readonly address: string }, sql: string) {
  const client = new pg.Client({ connectionString: address });
  let ending: Promise<void> | undefined;
  const end = (how: 'commit' | 'rollback') => {
    ending ??= client.query(how).then(() => client.end());
    return ending;
  };
  await client.connect();
  await client.query(`begin; ${sql}`);
  return { end, [Symbol.asyncDispose]: () => end('rollback') };
}
