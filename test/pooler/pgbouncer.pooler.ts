/** A store behind PgBouncer: what it leaves in the sessions, its limits, and what an address without `pgbouncer=true` gets. Then the settings of docs/postgresql.md. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import { fail, repeat } from '../storage/contract/data.ts';
import { startTestApp } from '../support/app.ts';
import { ADD, holdInSession } from '../support/empty-database.ts';
import { startPgbouncer } from '../support/pgbouncer.ts';
import { createTestDatabase, endSessions } from '../support/postgres.ts';
import { queryOnce, startCluster } from '../support/postgres-cluster.ts';
import { assertError, send } from '../support/request.ts';
import { until } from '../support/until.ts';

const REX = { name: 'Rex', categoryId: 1n };
const UNAVAILABLE = { name: 'PetstoreError', code: 'unavailable' };
const FORGETS = 'the database is behind a pooler: add pgbouncer=true to the address';
/** What the service sends at its start without the parameter. */
const IGNORE = { ignore_startup_parameters: 'statement_timeout, options' };

const SESSION_MODE = { ...IGNORE, pool_mode: 'session', default_pool_size: '20' };

/** An empty database, and its address through the pooler. */
async function createPlace(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ direct: string; pooled: string }> {
  const database = await createTestDatabase();
  t.after(() => database[Symbol.asyncDispose]());
  const { address: direct } = database;
  const pgbouncer = await startPgbouncer(direct, settings);
  t.after(() => pgbouncer[Symbol.asyncDispose]());
  return { direct, pooled: pgbouncer.url + new URL(direct).pathname.slice(1) };
}

const open = (address: string) => openStore(address, { create: true, databaseTimeout: 0.9 });

test('pgbouncer=true › all that a store does › leaves nothing in the sessions', async (t) => {
  const { pooled } = await createPlace(t, { default_pool_size: '1' });
  await using store = await open(`${pooled}?pgbouncer=true`);
  const digest = new Uint8Array(32);
  const key = await store.keys.add({ digest, name: 'ci', environment: 'staging', createdAt: 1 });
  for (let count = 0; count < 3; count += 1) {
    await assert.rejects(store.pets.merge(fail(1)), /row 7 is wrong/);
    // The key is not there.
    await assert.rejects(store.keys.rotate(9, { ...key, digest }, 3));
  }
  await store.keys.rotate(key.id, { ...key, digest: digest.fill(1) }, 2);
  await Promise.all([store.pets.add(REX), store.pets.addOnce(REX, { keyId: 1, key: 'a' })]);
  await store.pets.merge(ReadableStream.from([REX]));
  assert.equal((await store.pets.list({ limit: 9 })).pets.length, 3);
  await store.check();
  const { rows } = await queryOnce(
    pooled,
    `select count(*)::int as statements, current_setting('statement_timeout') as timeout,
      current_setting('default_transaction_isolation') as isolation,
      (select count(*)::int from pg_locks join pg_database on oid = database
        where locktype = 'advisory' and datname = current_database()) as locks,
      (select count(*)::int from pg_class where relpersistence = 't') as tables
    from pg_prepared_statements`,
  );
  assert.deepEqual(rows, [
    { statements: 0, timeout: '0', isolation: 'read committed', locks: 0, tables: 0 },
  ]);
});

test('pgbouncer=true › an import while another client takes sessions › adds all', async (t) => {
  const { pooled } = await createPlace(t);
  await using store = await open(`${pooled}?pgbouncer=true`);
  await using stack = new AsyncDisposableStack();
  async function* listPets() {
    for (let count = 0; count < 1_500; count += 1) yield REX;
    // The first 1,000 are staged: between two transactions this one would get their session.
    stack.use(await holdInSession({ address: pooled }, 'select 1'));
    for (let count = 0; count < 1_500; count += 1) yield REX;
  }
  assert.equal((await store.pets.merge(listPets())).added, 3_000);
});

test('pgbouncer=true › pets that another session locks › are unavailable, and nothing goes on in the server', async (t) => {
  const { direct, pooled } = await createPlace(t);
  await using store = await open(`${pooled}?pgbouncer=true`);
  await using other = await holdInSession(
    { address: direct },
    'lock table pets in access exclusive mode',
  );
  await Promise.all([
    assert.rejects(store.pets.add(REX), UNAVAILABLE),
    assert.rejects(store.pets.find(1n), UNAVAILABLE),
  ]);
  const active = `select 1 from pg_stat_activity where datname = current_database()
    and state = 'active' and pid <> pg_backend_pid()`;
  await until(async () => (await queryOnce(direct, active)).rows.length === 0);
  await other.end('commit');
  assert.equal((await store.pets.add(REX)).name, 'Rex');
});

for (const [query, settings] of [
  ['?pgbouncer=true', {}],
  ['', SESSION_MODE],
] as const) {
  test(`an address through a pooler ${query} › a server that takes no more writes › is used for no read, until it takes writes`, async (t) => {
    const { direct, pooled } = await createPlace(t, settings);
    const name = new URL(direct).pathname.slice(1);
    await using store = await open(pooled + query);
    const useAll = () =>
      Promise.all([
        store.check(),
        store.keys.list(),
        store.pets.list({ limit: 1 }),
        store.pets.add(REX),
      ]);
    const setReadOnly = async (value: string) => {
      await queryOnce(
        direct,
        `set transaction read write;
        alter database ${name} set default_transaction_read_only = ${value}`,
      );
    };
    await store.keys.list();
    await setReadOnly('on');
    await endSessions(direct);
    // The connections of the store to the pooler are still open.
    for (let count = 0; count < 9; count += 1) await assert.rejects(useAll(), UNAVAILABLE);
    await assert.rejects(store.keys.list(), /is read-only/);
    await setReadOnly('off');
    // The sessions that the pooler opened meanwhile would stay read-only for an hour.
    await until(() => useAll().then(Boolean, () => false), RETURN_MS_MAX);
    for (let count = 0; count < 9; count += 1) await useAll();
  });
}

test('pgbouncer=true › a database whose default is serializable › takes a create that waited', async (t) => {
  const { direct, pooled } = await createPlace(t);
  const name = new URL(direct).pathname.slice(1);
  await queryOnce(
    direct,
    `alter database ${name} set default_transaction_isolation = serializable`,
  );
  await using store = await open(`${pooled}?pgbouncer=true`);
  await using other = await holdInSession(
    { address: direct },
    `insert into pets values (nextval('pets_id'), 'Rex', 1);
    insert into idempotency_keys values (1, 'once', ${Date.now()}, 1)`,
  );
  const adding = store.pets.addOnce(REX, { keyId: 1, key: 'once' });
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock'
    and datname = current_database()`;
  await until(async () => (await queryOnce(direct, waiting)).rows.length === 1);
  await other.end('commit');
  assert.equal((await adding).pet.id, 1n);
});

test('pgbouncer=true › cursors, when the pooler leads to a server with fewer pets › are settled anew', async () => {
  await using cluster = await startCluster();
  await using pgbouncer = await startPgbouncer(cluster.url(), { server_login_retry: '1' });
  await using store = await open(`${pgbouncer.url}postgres?pgbouncer=true`);
  await store.pets.merge(repeat(9));
  assert.equal((await store.pets.list({ limit: 8 })).next, 8n);
  // As a standby that lacks the last pets: the connection to the pooler stays.
  await queryOnce(cluster.url(), "delete from pets where id > 3; select setval('pets_id', 3)");
  await cluster.stop();
  await cluster.start();
  await using _other = await holdInSession({ address: cluster.url() }, ADD);
  await until(() => store.pets.add(REX).then(Boolean, () => false), RETURN_MS_MAX);
  await store.pets.add(REX);
  await assert.rejects(store.pets.list({ limit: 1, after: 3n }), /still under way/);
});

test('a pooler that the address does not tell of › with its defaults › is named by the start', async (t) => {
  const { pooled } = await createPlace(t);
  await assert.rejects(openStore(pooled, { create: true }), {
    ...UNAVAILABLE,
    message: 'the database is refused by its pooler: see its log; the address needs pgbouncer=true',
  });
});

for (const [mode, settings] of [
  ['session mode', SESSION_MODE],
  ['transaction mode with one session', { ...IGNORE, default_pool_size: '1' }],
] as const) {
  test(`a pooler that the address does not tell of › ${mode} › serves`, async (t) => {
    const { pooled } = await createPlace(t, settings);
    await using store = await open(pooled);
    assert.equal((await store.pets.add(REX)).name, 'Rex');
  });
}

for (const [server_round_robin, order] of ['the last one', 'the first one'].entries()) {
  test(`a pooler that the address does not tell of › transaction mode, ${order} first › makes /readyz 503, with a line`, async (t) => {
    const { pooled } = await createPlace(t, {
      ...IGNORE,
      server_round_robin: `${server_round_robin}`,
    });
    await using store = await open(pooled);
    await using app = await startTestApp({ store });
    const readyz = () => send(app.port, { path: '/readyz' });
    let answer = await readyz();
    await until(async () => {
      // Beside requests, whose sessions it gets.
      const requests = [store.pets.list({ limit: 1 }), store.pets.find(1n), store.keys.list()];
      [answer] = await Promise.all([readyz(), Promise.allSettled(requests)]);
      return answer.status === 503;
    });
    assertError(answer, 'unavailable', /cannot answer now/);
    assert.ok(app.log.some(({ reason }) => reason === FORGETS));
  });
}

const DOCUMENT = new URL('../../docs/postgresql.md', import.meta.url);
/** By its default PgBouncer tries again 15 s after a failure. */
const RETURN_MS_MAX = 10_000;

async function readSettings(): Promise<Record<string, string>> {
  const [, section = ''] = (await readFile(DOCUMENT, 'utf8')).split('\n[pgbouncer]\n');
  const [lines = ''] = section.split('\n```');
  return Object.fromEntries([...lines.matchAll(/^(\w+) = (.*)$/gm)].map(([, ...pair]) => pair));
}

test('the documented PgBouncer › PostgreSQL restarted › is connected to it again soon', async () => {
  const settings = await readSettings();
  assert.equal(settings.pool_mode, 'transaction');
  await using cluster = await startCluster();
  await using pgbouncer = await startPgbouncer(cluster.url(), settings);
  const address = `${pgbouncer.url}postgres?pgbouncer=true`;
  await using store = await openStore(address, { create: true });
  await cluster.stop();
  await assert.rejects(store.keys.list());
  await cluster.start();
  await until(() => store.keys.list().then(Boolean, () => false), RETURN_MS_MAX);
});
