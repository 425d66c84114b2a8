/** Empty databases of PostgreSQL, their stores, and sessions beside them. */

import { test } from 'node:test';
import pg from 'pg';
import type { OpenOptions } from '../../src/storage/engine.ts';
import { openStore } from '../../src/storage/open.ts';
import type { Store } from '../../src/store.ts';
import { createTestDatabase, PATIENT } from './postgres.ts';
import { queryOnce } from './postgres-cluster.ts';

export type EmptyDatabase = Awaited<ReturnType<typeof createEmptyDatabase>>;

/** An empty database; its stores are closed at the end. */
export async function createEmptyDatabase() {
  const stack = new AsyncDisposableStack();
  const { address } = stack.use(await createTestDatabase());
  return {
    address,
    query: async (sql: string): Promise<Record<string, unknown>[]> =>
      (await queryOnce(address, sql)).rows,
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
