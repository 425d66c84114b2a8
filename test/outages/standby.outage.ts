/** Commands that only read, with the address of a standby, so that a long one does not slow creates. */

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { openStore } from '../../src/storage/open.ts';
import { openPostgres } from '../../src/storage/postgres/engine.ts';
import { createNewKey } from '../storage/contract/data.ts';
import { listChildren } from '../support/children.ts';
import { type Cluster, queryOnce, startCluster } from '../support/postgres-cluster.ts';
import { assertRefused, runProgram, startProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';

const READ_ONLY =
  'is read-only: the address leads to a standby, or default_transaction_read_only is on';

const CONFLICT = 'is a standby that ended a long read: raise its max_standby_streaming_delay';

test('standby › commands that only read › have its pets, and one that adds is refused', async () => {
  const cwd = createProcessFolder();
  await using primary = await startCluster();
  await using standby = await primary.startStandby({
    settings: { max_standby_streaming_delay: '0' },
  });
  await using store = await openStore(primary.url(), { create: true });
  const rex = await store.pets.add({ name: 'Rex', categoryId: 1n });
  // The standby has no table at first.
  const count = () => queryOnce(standby.url(), 'select from pets').catch(() => undefined);
  await until(async () => (await count())?.rowCount === 1);

  const run = (...args: string[]) => runProgram([...args, '--database', standby.url()], { cwd });
  assert.equal((await run('backup', 'backup.db')).status, 0);
  await using backup = await openStore(`sqlite:${cwd}/backup.db`, { create: false });
  assert.deepEqual((await backup.pets.list({ limit: 2 })).pets, [rex]);

  assert.equal((await run('pets', 'export', 'pets.ndjson')).status, 0);
  const exported = await readFile(`${cwd}/pets.ndjson`, 'utf8');
  assert.equal(exported, '{"id":1,"name":"Rex","categoryId":1}\n');

  for (const args of ['pets list', 'pets get 1', 'keys list', 'migrate --dry-run']) {
    const { status, stderr } = await run(...args.split(' '));
    assert.equal(status, 0, stderr);
  }

  await using engine = await openPostgres(standby.url(), { create: false, onlyReads: true });
  const reading = engine.longTransaction('snapshot', async ({ read }) => {
    await read('select from pets');
    for (const sql of ['delete from pets', 'vacuum pets']) await queryOnce(primary.url(), sql);
    const left = "select from pg_stat_activity where application_name = 'petstore'";
    await until(async () => (await queryOnce(standby.url(), left)).rowCount === 0);
    await read('select from pets');
  });
  await assert.rejects(reading, { message: `the database ${CONFLICT}` });

  const serving = await run('serve', '--port', '0', '--start-timeout', '1');
  assert.equal(serving.status, 1);
  assert.match(serving.stderr, new RegExp(`${READ_ONLY}; trying again for 1 s`));
  const adding = await run('pets', 'add', '--name', 'Mia', '--category-id', '1');
  assertRefused(adding, 1, `the database ${READ_ONLY}`);
});

test('a stale standby › as the first of several hosts › is used by no command; alone, it is read', async () => {
  const cwd = createProcessFolder();
  const run = (line: string) => runProgram(line.split(' '), { cwd });
  const readPets = async (address: string) =>
    (await run(`pets export --database ${address}`)).stdout;
  await using primary = await startCluster();
  await using standby = await primary.startStandby();
  await using store = await openStore(primary.url(), { create: true });
  await until(() => queryOnce(standby.url(), 'table pets').then(Boolean, () => false));
  await queryOnce(standby.url(), 'select pg_wal_replay_pause()');
  await store.pets.add({ name: 'Rex', categoryId: 1n });
  await store.keys.add(createNewKey());
  const hosts = [standby, primary].map(({ port }) => `127.0.0.1:${port}`);
  const all = `postgres://postgres@${hosts}/postgres`;

  assert.match((await run(`keys list --database ${all}`)).stdout, /ci/);
  await run(`backup backup.db --database ${all}`);
  await run(`copy --from ${all} --to sqlite:copy.db`);
  for (const address of [
    all,
    `${all}?target_session_attrs=any`,
    'sqlite:backup.db',
    'sqlite:copy.db',
  ]) {
    assert.match(await readPets(address), /Rex/);
  }
  assert.equal(await readPets(standby.url()), '');
  await primary.stop();
  assert.equal((await run(`pets list --database ${all}`)).status, 1);
});

const setNames = async (primary: Cluster, names: string) => {
  await queryOnce(primary.url(), `alter system set synchronous_standby_names = '${names}'`);
  await queryOnce(primary.url(), 'select pg_reload_conf()');
};

async function signalServer({ pid }: Cluster, signal: NodeJS.Signals): Promise<void> {
  for (const child of [pid, ...(await listChildren(pid))]) process.kill(child, signal);
}

const UNCONFIRMED =
  'the database does not confirm writes: a synchronous standby does not confirm (see pg_stat_replication), or the server is silent';
const CONNECTIONS = 5;
/** Longer than three times the time of a write: without a bound, each time opens more connections. */
const SILENT_MS = 6_000;
const REX = { name: 'Rex', categoryId: 1n };

/** Commands that wait for the standby at their end, are stopped there, and what they tell. */
const MAKE_KEY = 'keys create --name new --environment staging --database';
const COPY = 'copy --from sqlite:from.db --to';
const LOOK_LATER = /is not known .*: when the database confirms writes again, in the same store, /;
const HELD = [
  ['imported', 'pets import one.ndjson --database', /^stopped: nothing was imported/],
  ['stopped', MAKE_KEY, /^stopped: .*not known/],
  ['keyed', MAKE_KEY, new RegExp(`${LOOK_LATER.source}keys list shows a new key if so`)],
  [
    'copied',
    COPY,
    new RegExp(`${LOOK_LATER.source}the same command again is refused, as not empty`),
  ],
] as const;

for (const [what, silence, speak] of [
  [
    'that is frozen',
    (_: Cluster, standby: Cluster) => signalServer(standby, 'SIGSTOP'),
    (_: Cluster, standby: Cluster) => signalServer(standby, 'SIGCONT'),
  ],
  [
    'that nobody is',
    (primary: Cluster) => setNames(primary, 'nobody'),
    // As an operator does, when no standby is left.
    (primary: Cluster) => setNames(primary, ''),
  ],
] as const) {
  test(`a synchronous standby ${what} › creates are refused, soon at once, lists go on, and connections stay bounded`, async () => {
    await using primary = await startCluster({ settings: { synchronous_commit: 'on' } });
    await using standby = await primary.startStandby();
    await setNames(primary, '*');
    const options = { create: true, databaseConnections: CONNECTIONS, databaseTimeout: 0.9 };
    await using store = await openStore(primary.url(), options);
    await until(() => store.pets.add(REX).then(Boolean, () => false));
    const cwd = createProcessFolder();
    await using source = await openStore(`sqlite:${cwd}/from.db`, options);
    await source.pets.add(REX);
    for (const name of ['late', ...HELD.map(([database]) => database)]) {
      await queryOnce(primary.url(), `create database ${name}`);
      // In the store of the creates, they would wait for their locks.
      if (!/late|stopped/.test(name)) await (await openStore(primary.url(name), options)).close();
    }
    const count = async () => {
      const sql = "select from pg_stat_activity where application_name = 'petstore'";
      return (await queryOnce(primary.url(), sql)).rowCount ?? Number.NaN;
    };
    let isSilent = true;
    const refusals: { readonly message: string; readonly ms: number }[] = [];
    const create = async () => {
      while (isSilent) {
        const since = performance.now();
        const error: unknown = await store.pets.add(REX).catch((caught) => caught);
        const { message } = Object(error);
        refusals.push({ message, ms: performance.now() - since });
        await setTimeout(20);
      }
    };
    await silence(primary, standby);
    // Else a failure would wait for it.
    await using _ = { [Symbol.asyncDispose]: () => speak(primary, standby) };
    const creating = Promise.all(Array.from({ length: 8 }, create));
    let most = 0;
    const end = performance.now() + SILENT_MS;
    while (performance.now() < end) {
      assert.ok((await store.pets.list({ limit: 1 })).pets.length > 0);
      await store.check();
      most = Math.max(most, await count());
      await setTimeout(20);
    }
    isSilent = false;
    await creating;
    const last = refusals.slice(-8);
    // Its connection stays open for as long as the standby is silent.
    const add = ['pets', 'add', '--name', 'Rex', '--category-id', '1'];
    const inStore = ['--database', primary.url()];
    await writeFile(`${cwd}/one.ndjson`, '{"name":"Rex","categoryId":1}');
    const adding = await within(runProgram([...add, ...inStore], { cwd }));
    assert.equal(adding.status, 1);
    assert.match(adding.stderr, /does not confirm/);
    const starting = openStore(primary.url('late'), { create: true, startTimeout: 1 });
    await assert.rejects(within(starting), { message: UNCONFIRMED });
    for (const [database, line, told] of HELD) {
      const at = `${primary.url(database)}?application_name=${database}`;
      await using program = startProgram([...line.split(' '), at], { cwd });
      const held = `select from pg_stat_activity where wait_event = 'SyncRep'
        and query ~ '^(commit|insert into api_keys)' and application_name = '${database}'`;
      await until(async () => (await queryOnce(primary.url(), held)).rowCount === 1);
      program.process.kill('SIGTERM');
      assert.match((await within(program.finished)).stderr, told);
    }
    const run = (line: string, database: string) =>
      runProgram([...line.split(' '), primary.url(database)], { cwd });
    const listKeys = async () => (await run('keys list --database', 'keyed')).stdout;
    assert.doesNotMatch(await listKeys(), /new/);
    const locked = 'the store to copy to: the database is locked by another process';
    assertRefused(await run(COPY, 'copied'), 1, `${locked}; nothing was copied`);
    await speak(primary, standby);
    const since = performance.now();
    await until(() => store.pets.add(REX).then(Boolean, () => false));
    const returnMs = performance.now() - since;
    assert.deepEqual(new Set(refusals.map(({ message }) => message)), new Set([UNCONFIRMED]));
    assert.ok(
      last.every(({ ms }) => ms < 300),
      JSON.stringify(last),
    );
    assert.ok(most <= 2 * CONNECTIONS, `${most} connections`);
    assert.ok(returnMs < 2_000, `back after ${returnMs} ms`);
    await until(async () => (await count()) <= CONNECTIONS);
    await until(async () => /new/.test(await listKeys()));
    assert.match((await run(COPY, 'copied')).stderr, /is not empty.*; nothing was copied/);
  });
}
