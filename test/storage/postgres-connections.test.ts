/** What becomes of the connections to PostgreSQL: which are kept, which are closed, and when. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { openStore } from '../../src/storage/open.ts';
import type { Store } from '../../src/store.ts';
import { disposable } from '../support/disposable.ts';
import {
  createEmptyDatabase,
  type EmptyDatabase,
  holdInSession,
} from '../support/empty-database.ts';
import { LIMITED, NO_SESSIONS, PATIENT } from '../support/postgres.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import { startProxy, type TestProxy } from '../support/proxy.ts';
import { until, within } from '../support/until.ts';
import { REX } from './contract/data.ts';

const UNAVAILABLE = { name: 'PetstoreError', code: 'unavailable' };
/** A connection that nobody uses is closed after this time. */
const IDLE_MS_MAX = 60_000;
/** For a close that waits for a call which a silent server does not answer. */
const CLOSE_MS_MAX = 20_000;

interface Watched extends AsyncDisposable {
  readonly store: Store;
  readonly proxy: TestProxy;
  /** The database, beside the proxy. */
  readonly database: EmptyDatabase;
}

/** A new store that reaches its database through a proxy; `await using` closes and removes it. */
async function openWatched(query = '', limits = PATIENT): Promise<Watched> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await createEmptyDatabase());
  const proxy = await startProxy(database.address);
  const options = { create: true, databaseConnections: 2, ...limits };
  const store = stack.use(disposable(await openStore(proxy.address + query, options)));
  stack.use(proxy);
  const opened = stack.move();
  return { store, proxy, database, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** A read and a write, each of which has a connection. */
async function readAndWrite({ pets, keys }: Store): Promise<void> {
  await Promise.all([pets.find(1n), keys.touch(1, 1)]);
}

async function useTwoConnections({ store, proxy }: Watched): Promise<void> {
  await readAndWrite(store);
  await until(() => proxy.open === 2);
}

describe('connections', () => {
  /** The driver warns once, of statements that are sent while another one is under way. */
  const warnings: Error[] = [];
  const keep = (warning: Error) => warnings.push(warning);
  before(() => {
    process.on('warning', keep);
  });
  after(() => {
    process.off('warning', keep);
    assert.deepEqual(warnings, []);
  });

  describe('connections, at once', { concurrency: true }, () => {
    for (const lock of [
      'lock table pets in access exclusive mode',
      'lock table pets in share row exclusive mode',
    ]) {
      test(`connections › a create that is unavailable by "${lock}" › does not go on in the server`, {
        skip: NO_SESSIONS,
      }, async () => {
        await using watched = await openWatched('', LIMITED);
        const { store, database } = watched;
        {
          await using _other = await holdInSession(database, lock);
          await assert.rejects(store.pets.add(REX), UNAVAILABLE);
          const active = `select 1 from pg_stat_activity where datname = current_database()
            and state = 'active' and pid <> pg_backend_pid()`;
          await until(async () => (await database.query(active)).length === 0);
        }
        assert.deepEqual(await store.pets.list({ limit: 1 }), { pets: [] });
      });
    }

    test('connections › to a server that takes no more writes › are replaced, when the store must write', async () => {
      await using watched = await openWatched('?target_session_attrs=read-write');
      const { store, proxy, database } = watched;
      await useTwoConnections(watched);
      await database.query(
        `create function refuse() returns trigger language plpgsql as
          $$ begin raise sqlstate '25006'; end $$;
        create trigger refuse before insert on pets execute function refuse()`,
      );
      await assert.rejects(store.pets.add(REX), UNAVAILABLE);
      await until(() => proxy.open === 1);
      await database.query('drop trigger refuse on pets');
      assert.equal((await store.pets.add(REX)).name, 'Rex');
    });

    test('connections › of a store that is closed › are closed', async () => {
      await using watched = await openWatched();
      await useTwoConnections(watched);
      await watched.store.close();
      await until(() => watched.proxy.open === 0);
    });

    test('connections › of checks › are one of their own, given back after a failure too, and closed with the store', {
      skip: NO_SESSIONS,
    }, async () => {
      await using watched = await openWatched('', LIMITED);
      const { store, proxy, database } = watched;
      await useTwoConnections(watched);
      await Promise.all([store.check(), store.check()]);
      assert.equal(proxy.open, 3);
      const { opened } = proxy;
      {
        await using _other = await holdInSession(database, 'lock table pets');
        await assert.rejects(store.check(), UNAVAILABLE);
      }
      for (let count = 0; count < 3; count += 1) await store.check();
      assert.equal(proxy.opened, opened);
      await store.close();
      await until(() => proxy.open === 0);
    });

    test('connections › to a database whose encoding is not UTF8 › are refused, and leave it empty', {
      skip: NO_SESSIONS,
    }, async (t) => {
      await using database = await createEmptyDatabase();
      const latin1 = new URL(database.address);
      latin1.pathname += '_latin1';
      const name = latin1.pathname.slice(1);
      await database.query(
        `create database ${name} encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0`,
      );
      t.after(() => database.query(`drop database ${name} with (force)`));
      await assert.rejects(openStore(latin1.href, { create: true }), {
        ...UNAVAILABLE,
        message: 'the database has the encoding LATIN1: it must be UTF8',
      });
      const { rows } = await queryOnce(
        latin1.href,
        `select * from pg_tables where schemaname = 'public'`,
      );
      assert.deepEqual(rows, []);
    });
  });

  // By itself: the server ends a statement only 0.1 s before its call gives the connection up.
  test('connections › that wait for a lock with more calls than there are connections › stay as many', {
    skip: NO_SESSIONS,
  }, async () => {
    await using watched = await openWatched('', LIMITED);
    const { store, proxy, database } = watched;
    await useTwoConnections(watched);
    const { opened } = proxy;
    {
      const lock = 'lock table pets, api_keys in access exclusive mode';
      await using _other = await holdInSession(database, lock);
      await Promise.all([
        assert.rejects(store.pets.find(1n), UNAVAILABLE),
        assert.rejects(store.pets.listAsJson({ limit: 1 }), UNAVAILABLE),
        assert.rejects(store.keys.list(), UNAVAILABLE),
        assert.rejects(store.pets.add(REX), UNAVAILABLE),
      ]);
    }
    assert.deepEqual(await store.keys.list(), []);
    assert.equal(proxy.opened, opened);
  });

  test('connections › that fall silent › fail one call, and no call after it', {
    skip: NO_SESSIONS,
  }, async () => {
    await using watched = await openWatched('', LIMITED);
    const { pets } = watched.store;
    await useTwoConnections(watched);
    const { opened } = watched.proxy;
    watched.proxy.silence();
    await assert.rejects(pets.find(1n), UNAVAILABLE);
    assert.equal(await pets.find(1n), undefined);
    assert.equal(watched.proxy.opened, opened + 1);
  });

  test('connections › that fall silent while the store is closed › end only their call', {
    skip: NO_SESSIONS,
  }, async () => {
    await using watched = await openWatched('', LIMITED);
    const { store, proxy } = watched;
    await useTwoConnections(watched);
    proxy.silence();
    const reading = assert.rejects(store.pets.find(1n), UNAVAILABLE);
    // The call has its connection.
    await setTimeout(100);
    await within(Promise.all([reading, store.close()]), CLOSE_MS_MAX);
  });

  test('connections › that nobody uses for a minute › are closed', async (t) => {
    await using watched = await openWatched();
    const { proxy } = watched;
    await useTwoConnections(watched);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const store = await openStore(proxy.address, { create: false, ...PATIENT });
    try {
      await readAndWrite(store);
      t.mock.timers.tick(IDLE_MS_MAX - 1);
      // A round trip: by its end the proxy would have seen the end of the other connection.
      await watched.database.query('select 1');
      assert.equal(proxy.open, 4);
      t.mock.timers.tick(1);
      t.mock.timers.reset();
      await until(() => proxy.open === 2);
    } finally {
      await store.close();
    }
  });
});
