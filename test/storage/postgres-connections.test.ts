/** What becomes of the connections to PostgreSQL, and of the calls: which are kept, ended or given up, and when. */

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { OpenOptions } from '../../src/storage/engine.ts';
import { openStore } from '../../src/storage/open.ts';
import type { Store } from '../../src/store.ts';
import { disposable } from '../support/disposable.ts';
import { createEmptyDatabase, holdInSession } from '../support/empty-database.ts';
import { endSessions, LIMITED, NO_SESSIONS, PATIENT } from '../support/postgres.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import { startProxy } from '../support/proxy.ts';
import { countTimers } from '../support/timers.ts';
import { until, within } from '../support/until.ts';
import { createNewKey, REX, repeat } from './contract/data.ts';

const UNAVAILABLE = { name: 'PetstoreError', code: 'unavailable' };
/** The server ends a statement 0.6 s before its call gives the connection up: also a busy machine hears of it in time. */
const ENDED_BY_SERVER = { databaseTimeout: 3 };
/** A connection that nobody uses is closed after this time. */
const IDLE_MS_MAX = 60_000;
/** What is given up is closed sooner than what nobody uses. */
const GIVEN_UP_MS_MAX = IDLE_MS_MAX / 2;
/** For a close that waits for a call which a silent server does not answer. */
const CLOSE_MS_MAX = 20_000;

/** A new store with two connections to its database, through a proxy; `await using` closes and removes it. */
async function openWatched(query = '', limits: Partial<OpenOptions> = PATIENT) {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await createEmptyDatabase());
  const proxy = await startProxy(database.address);
  const options = { create: true, databaseConnections: 2, ...limits };
  const store = stack.use(disposable(await openStore(proxy.address + query, options)));
  stack.use(proxy);
  await readAndWrite(store);
  await until(() => proxy.open === 2);
  const opened = stack.move();
  return { store, proxy, database, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** A read and a write, each of which has a connection. */
async function readAndWrite({ pets, keys }: Store): Promise<void> {
  await Promise.all([pets.find(1n), keys.touch(1, 1)]);
}

/** SQL that lets each change of pets fail in a way of its own. */
const failBy = (how: string, when: string, each: string) => `
  create function fail() returns trigger language plpgsql as
    $$ begin ${how}; return null; end $$;
  create ${when} insert or update on pets ${each} execute function fail()`;
const MEND = 'drop trigger fail on pets';
const setReadOnly = (value: string) => `do $$ begin
  execute format('alter database %I set default_transaction_read_only = ${value}', current_database());
  end $$`;

/** With whether they break a connection that is used. */
const FAILURES = [
  ['are refused', failBy(`raise sqlstate '40001'`, 'trigger fail before', ''), MEND, false],
  [
    'fail at their commit',
    failBy(
      `raise sqlstate '40001'`,
      'constraint trigger fail after',
      'deferrable initially deferred for each row',
    ),
    MEND,
    false,
  ],
  [
    'are ended with their session',
    failBy('perform pg_terminate_backend(pg_backend_pid())', 'trigger fail before', ''),
    MEND,
    true,
  ],
  [
    'find no server that takes writes',
    setReadOnly('on'),
    `set transaction read write; ${setReadOnly('off')}`,
    false,
  ],
] as const;

/** Transactions and advisory locks that are left, also of a session that ends just now. */
const LEFT = `select 1 from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'
  union all select 1 from pg_locks join pg_database on oid = database
    where locktype = 'advisory' and datname = current_database()`;

/** The driver warns once, of statements that are sent while another one is under way. */
const warnings: Error[] = [];
process.on('warning', (warning) => warnings.push(warning));
after(() => assert.deepEqual(warnings, []));

test('connections › writes that are answered › leave no timer, which would keep the process alive', async () => {
  await using watched = await openWatched();
  const timers = countTimers();
  const writes = 20;
  for (let index = 0; index < writes; index += 1) await watched.store.pets.add(REX);
  assert.ok(countTimers() < timers + writes);
});

test('connections › one that meets a server that takes no writes › is given up with all others, and a new one is tried', async () => {
  await using watched = await openWatched();
  const { store, proxy, database } = watched;
  await store.check();
  assert.equal(proxy.open, 3);
  await database.query(failBy(`raise sqlstate '25006'`, 'trigger fail before', ''));
  await assert.rejects(store.pets.add(REX), UNAVAILABLE);
  await until(() => proxy.open === 0, GIVEN_UP_MS_MAX);
  await database.query(MEND);
  assert.equal((await store.pets.add(REX)).name, 'Rex');
});

test('connections › of checks, which the server has ended while they were idle › are replaced by the check', {
  skip: NO_SESSIONS,
}, async () => {
  await using database = await createEmptyDatabase();
  await database.query(`do $$ begin
    execute format('alter database %I set idle_session_timeout = 200', current_database());
    end $$`);
  const store = await database.open();
  await store.check();
  // This process does not hear of it before its next check.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  await store.check();
});

describe('connections of sessions', { skip: NO_SESSIONS, concurrency: 3 }, () => {
  test('connections › to a database whose encoding is not UTF8 › are refused, and leave it empty', async (t) => {
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

  for (const [what, fail, mend, breaks] of FAILURES) {
    test(`connections › whose changes ${what}, more often than there are connections › are given back`, async () => {
      await using watched = await openWatched();
      const { store, proxy, database } = watched;
      const { pets } = store;
      const [rex] = [await pets.add(REX), await pets.add(REX)];
      await database.query(fail);
      await endSessions(database.address);
      const countBroken = () => store.countConnections?.().broken ?? 0;
      await until(() => countBroken() === 2);
      // The driver warns of the eleventh listener of an event; writes have one connection.
      for (let count = 0; count < 5; count += 1) {
        await Promise.all([
          assert.rejects(pets.add(REX), UNAVAILABLE),
          assert.rejects(pets.addOnce(REX, { keyId: 1, key: 'nightly' }), UNAVAILABLE),
          assert.rejects(pets.update(rex, { ...REX, name: 'Tom' }), UNAVAILABLE),
          assert.rejects(pets.merge(repeat(1)), UNAVAILABLE),
        ]);
      }
      assert.equal(countBroken() > 2, breaks);
      await database.query(mend);
      await until(async () => (await database.query(LEFT)).length === 0, GIVEN_UP_MS_MAX);
      assert.equal((await pets.update(rex, { ...REX, name: 'Tom' })).name, 'Tom');
      assert.equal((await pets.merge(repeat(1))).added, 1);
      assert.equal((await pets.list({ limit: 1 })).next, 1n);
      assert.equal(store.countConnections?.().used, 0);
      await until(() => proxy.open === 2);
    });
  }

  test('connections › of checks › are one of their own, given back after a failure too, and closed with the store', async () => {
    await using watched = await openWatched('', ENDED_BY_SERVER);
    const { store, proxy, database } = watched;
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
    await until(() => proxy.open === 0, GIVEN_UP_MS_MAX);
  });

  test('connections › of an import, with limits of time for its role › are ended by none', async () => {
    await using database = await createEmptyDatabase();
    const limits = ['statement', 'idle_session', 'idle_in_transaction_session'];
    const query = `?options=${limits.map((name) => `-c%20${name}_timeout=1`).join('%20')}`;
    async function* listPets() {
      yield* repeat(1_000);
      await setTimeout(100);
    }
    const merging = database.open({ query }).then(({ pets }) => pets.merge(listPets()));
    assert.equal(await merging.then(({ added }) => added, String), 1_000);
  });

  test('connections › that wait for a lock with more calls than there are connections › stay as many', async () => {
    await using watched = await openWatched('', ENDED_BY_SERVER);
    const { store, proxy, database } = watched;
    const { opened } = proxy;
    {
      const lock = 'lock table pets, api_keys in access exclusive mode';
      await using _other = await holdInSession(database, lock);
      await Promise.all([
        assert.rejects(store.pets.find(1n), UNAVAILABLE),
        assert.rejects(store.pets.listAsJson({ limit: 1 }), UNAVAILABLE),
        assert.rejects(store.keys.list(), UNAVAILABLE),
        assert.rejects(store.pets.add(REX), UNAVAILABLE),
        assert.rejects(store.keys.touch(1, 1), UNAVAILABLE),
      ]);
      // Nothing goes on in the server.
      await database.untilWaiting(0);
    }
    assert.deepEqual(await store.keys.list(), []);
    assert.deepEqual(await store.pets.list({ limit: 1 }), { pets: [] });
    assert.equal(proxy.opened, opened);
  });

  test('connections › that fall silent › fail the calls that they have, and no call after these', async () => {
    // Three of its connections are for reads. One of these is idle when the others fall silent.
    await using watched = await openWatched('', { ...LIMITED, databaseConnections: 6 });
    const { store, proxy } = watched;
    const { pets, keys } = store;
    await Promise.all([pets.find(1n), keys.list(), pets.list({ limit: 1 })]);
    await until(() => proxy.open === 4);
    const { opened } = proxy;
    proxy.silence();
    const first = assert.rejects(pets.find(1n), UNAVAILABLE);
    await setTimeout(300);
    const second = assert.rejects(pets.find(1n), UNAVAILABLE);
    await first;
    assert.equal(await pets.find(1n), undefined);
    await second;
    assert.equal(await pets.find(1n), undefined);
    assert.equal(proxy.opened, opened + 1);
    // The silent connections for reads were given up.
    proxy.speak();
    await until(() => proxy.open === 2, GIVEN_UP_MS_MAX);
  });

  test('connections › that open just as the call which waited for them gives up › are for the next call', async () => {
    await using database = await createEmptyDatabase();
    await database.open();
    // A connection takes 300 ms to open, and as long to ask whether the server takes writes.
    await using proxy = await startProxy(database.address, 150);
    const limits = { ...LIMITED, databaseConnections: 2 };
    const store = await openStore(proxy.address, { create: false, ...limits });
    const find = () =>
      store.pets.find(1n).then(
        () => true,
        () => false,
      );
    // On a busy machine, the connection may take longer than a call waits.
    await until(find);
    {
      await using _other = await holdInSession(database, 'lock table api_keys');
      const reading = Promise.allSettled([store.keys.list(), store.pets.find(1n)]);
      await setTimeout(300);
      await database.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`);
      await reading;
    }
    await until(find, CLOSE_MS_MAX);
    await store.close();
  });

  test('connections › that fall silent while the store is closed › end only their call', async () => {
    await using watched = await openWatched('', LIMITED);
    const { store, proxy } = watched;
    proxy.silence();
    const reading = assert.rejects(store.pets.find(1n), UNAVAILABLE);
    await until(() => store.countConnections?.().used === 1);
    await within(Promise.all([reading, store.close()]), CLOSE_MS_MAX);
  });

  test('limits of time › more writes than connections, all blocked › leave reads as they were', async () => {
    await using database = await createEmptyDatabase();
    const { pets, keys } = await database.open({ databaseConnections: 2 });
    const { id } = await keys.add(createNewKey());
    await pets.add(REX);
    await using other = await holdInSession(
      database,
      `lock table pets in share row exclusive mode; update api_keys set name = 'x'`,
    );
    const touching = Array.from({ length: 20 }, () => keys.touch(id, 1));
    const blocked = Promise.all([pets.add(REX), ...touching]);
    await database.untilWaiting(1);
    for (let count = 0; count < 20; count += 1) assert.ok(await pets.find(1n));
    await other.end('rollback');
    const [pet] = await blocked;
    assert.deepEqual(await pets.find(2n), pet);
  });
});

// Reads, writes and checks have at least one each.
for (const [count, most] of [
  [1, 3],
  [4, 4],
] as const) {
  test(`connections › as many calls as there can be, with ${count} connections › open ${most}`, async () => {
    await using watched = await openWatched('', { ...PATIENT, databaseConnections: count });
    const { store, proxy } = watched;
    const calls = Array.from({ length: 9 }, (_, at) => [
      store.keys.list(),
      store.keys.touch(at, 1),
    ]);
    await Promise.all([...calls.flat(), store.check()]);
    await until(() => proxy.open <= most, GIVEN_UP_MS_MAX);
    assert.equal(proxy.open, most);
  });
}

test('connections › that nobody uses for a minute › are closed', async (t) => {
  await using watched = await openWatched();
  const { proxy } = watched;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await using store = await openStore(proxy.address, { create: false, ...PATIENT });
  await readAndWrite(store);
  t.mock.timers.tick(IDLE_MS_MAX - 1);
  // A round trip: by its end the proxy would have seen the end of the other connection.
  await watched.database.query('select 1');
  assert.equal(proxy.open, 4);
  t.mock.timers.tick(1);
  t.mock.timers.reset();
  await until(() => proxy.open === 2);
});

/** Longer than a call of a store with LIMITED may take. */
const LONG_MS = 1_000;
describe('long work', { skip: NO_SESSIONS, concurrency: true }, () => {
  test('long work › an import whose insert takes more than a second › is done', async () => {
    await using database = await createEmptyDatabase();
    const { pets } = await database.open(LIMITED);
    await database.query(failBy(`perform pg_sleep(${LONG_MS / 1_000})`, 'trigger fail before', ''));
    assert.equal((await pets.merge(ReadableStream.from([REX, REX]))).added, 2);
    assert.equal((await pets.list({ limit: 9 })).pets.length, 2);
    const staged = "select relname from pg_class where relname like 'staged%'";
    assert.deepEqual(await database.query(staged), []);
  });

  test('long work › a first start while another migrates for more than a second › waits for it', async () => {
    await using database = await createEmptyDatabase();
    await using other = await holdInSession(
      database,
      "select pg_advisory_xact_lock(x'50657473'::int)",
    );
    const opening = database.open(LIMITED);
    await setTimeout(LONG_MS + 100);
    await other.end('rollback');
    assert.equal((await (await opening).pets.add(REX)).id, 1n);
  });

  test('long work › a connection that is lost between two batches of an import › fails it, and adds none', async () => {
    await using database = await createEmptyDatabase();
    const { pets } = await database.open();
    async function* loseConnection() {
      for (let count = 0; count < 1_500; count += 1) yield REX;
      await endSessions(database.address);
      // Nothing is sent meanwhile, so that the client learns it by an event.
      await setTimeout(50);
      for (let count = 0; count < 1_500; count += 1) yield REX;
    }
    await assert.rejects(pets.merge(loseConnection()), UNAVAILABLE);
    assert.deepEqual(await pets.list({ limit: 1 }), { pets: [] });
    assert.equal((await pets.add(REX)).name, 'Rex');
  });
});
