/** The engines that the store's contract is tested on, and a new store on each. */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test as nodeTest } from 'node:test';
import { openStore } from '../../../src/storage/open.ts';
import type { Store } from '../../../src/store.ts';
import { createTestDatabase, PATIENT } from '../../support/postgres.ts';
import { queryOnce } from '../../support/postgres-cluster.ts';
import { createProcessFolder } from '../../support/temporary-folder.ts';

const ALL = [
  { name: 'sqlite file', persists: true },
  { name: 'sqlite in memory', persists: false },
  { name: 'postgresql', persists: true },
] as const;

type Engine = (typeof ALL)[number];

/** TEST_ENGINE leaves only that one. */
export const ENGINES = ALL.filter(({ name }) => name.startsWith(process.env.TEST_ENGINE ?? ''));

/** Where the store of a test is. */
interface Place {
  /** The folder is removed after the test. */
  readonly folder: string;
  readonly address: string;
  /** Opens the same address once more. */
  readonly openAgain: () => Promise<Store>;
  /** The store of another process, if the engine can have one. */
  readonly openOther: () => Promise<Store>;
}

/** A new, empty store; `await using` closes and removes it. */
export async function openNewStore(engine: Engine) {
  await using stack = new AsyncDisposableStack();
  const folder = createProcessFolder();
  const addresses = {
    'sqlite file': async () => `sqlite:${join(folder, 'store.db')}`,
    'sqlite in memory': async () => 'sqlite::memory:',
    postgresql: async () => stack.use(await createTestDatabase()).address,
  };
  const address = await addresses[engine.name]();
  let opened = stack;
  const openAgain = async () => opened.use(await openStore(address, { create: true, ...PATIENT }));
  const store = await openAgain();
  opened = stack.move();
  const openOther = async () => (engine.persists ? openAgain() : store);
  const place: Place = { folder, address, openAgain, openOther };
  return { ...place, store, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

type Work = (store: Store, place: Place) => Promise<void>;

/** The function `test` for tests with a new store on each engine, whose name goes into the name of the test. */
const testOn = (engines: readonly Engine[]) => (name: string, work: Work) => {
  for (const engine of engines) {
    nodeTest(name.replace(' › ', ` on ${engine.name} › `), async () => {
      await using opened = await openNewStore(engine);
      await work(opened.store, opened);
    });
  }
};

export const test = testOn(ENGINES);
/** On the engines whose stores keep their data for the next process. */
export const testLasting = testOn(ENGINES.filter(({ persists }) => persists));
export const testOnFile = testOn(ENGINES.filter(({ name }) => name === 'sqlite file'));
export const testOnPostgresql = testOn(ENGINES.filter(({ name }) => name === 'postgresql'));

/** Runs a statement on a connection of its own. */
export async function runBeside(address: string, sql: string): Promise<readonly unknown[]> {
  if (address.startsWith('postgres')) return (await queryOnce(address, sql)).rows;
  using connection = new DatabaseSync(address.replace(/^sqlite:/, ''));
  return connection.prepare(sql).all();
}

/** Makes the idempotency keys of a store so much older. */
export async function age(address: string, ms: number): Promise<void> {
  await runBeside(address, `update idempotency_keys set created_at = created_at - ${ms}`);
}

/** Makes the database refuse every pet with the name `bad`; SQLite then undoes the whole transaction. */
export async function refuseBad(address: string): Promise<void> {
  if (address.startsWith('postgres')) {
    await runBeside(
      address,
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger refuse before insert on pets for each row when (new.name = 'bad')
        execute function refuse()`,
    );
  } else {
    await runBeside(
      address,
      `create trigger refuse before insert on pets when new.name = 'bad'
        begin select raise(rollback, 'no'); end`,
    );
  }
}
