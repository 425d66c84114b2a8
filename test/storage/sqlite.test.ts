/** What only SQLite has: settings, locks, its writer, query plans. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { NewPet } from '../../src/pet.ts';
import { createStatistics } from '../../src/statistics.ts';
import type { Engine } from '../../src/storage/engine.ts';
import { createKeyStore } from '../../src/storage/key-store.ts';
import { openStore } from '../../src/storage/open.ts';
import { openSqlite } from '../../src/storage/sqlite/engine.ts';
import { createPetQueries } from '../../src/storage/sqlite/pet-queries.ts';
import { createWriter } from '../../src/storage/sqlite/writer.ts';
import { disposable } from '../support/disposable.ts';
import { listen } from '../support/socket.ts';
import { alter, createDatabase, createFile } from '../support/sqlite.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { nextPoll } from '../support/until.ts';
import { combineFilters } from './contract/data.ts';

const REX: NewPet = { name: 'Rex', categoryId: 1n, status: 'sold' };

test('a database › for its reads and its writes › is synced, bounded, strict and trusts no schema', async () => {
  await using database = await openSqlite(createFile(), { create: true });
  const FULL = 2n;
  for (const [setting, value] of Object.entries({
    journal_mode: 'wal',
    synchronous: FULL,
    journal_size_limit: 67_108_864n,
    trusted_schema: 0n,
  })) {
    const sql = `pragma ${setting}`;
    assert.deepEqual(await database.read(sql), [[value]], setting);
    assert.deepEqual(await database.write({ sql, values: [] }), [[[value]]], setting);
  }
  const loose = "select name from pragma_table_list where strict = 0 and name not like 'sqlite%'";
  assert.deepEqual(await database.read(loose), []);
});

/** The plan of SQLite for the queries of the work, one line for each step. */
async function explain(work: (engine: Engine) => Promise<unknown>): Promise<string[]> {
  await using engine = await openSqlite(await createDatabase(100), { create: false });
  const steps: string[] = [];
  const read: Engine['read'] = async (sql, ...values) => {
    const plan = await engine.read(`explain query plan ${sql}`, ...values);
    steps.push(...plan.map((step) => String(step.at(-1))));
    return engine.read(sql, ...values);
  };
  await work(Object.assign(Object.create(engine), { read }));
  return steps;
}

const createQueries = ({ read }: Engine) => createPetQueries(read, () => 1, createStatistics());
const query = { limit: 20, after: 7n };

for (const [what, work, plan] of [
  [
    'pets.list',
    (engine: Engine) => createQueries(engine).list(query),
    'SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)',
  ],
  ...combineFilters().map((filters) => {
    const columns = filters.map(({ column }) => column);
    const values = Object.fromEntries(filters.map(({ name }) => [name, 'sold']));
    return [
      `pets.list by ${columns}`,
      (engine: Engine) => createQueries(engine).list({ ...query, ...values }),
      `SEARCH pets USING INDEX pets_${columns.join('_')} (${columns.join('=? AND ')}=? AND rowid>?)`,
    ] as const;
  }),
  [
    'pets.find',
    (engine: Engine) => createQueries(engine).find(7n),
    'SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)',
  ],
  [
    'keys.find',
    (engine: Engine) => createKeyStore(engine).find(Buffer.alloc(32)),
    'SEARCH api_keys USING INDEX sqlite_autoindex_api_keys_1 (digest=?)',
  ],
] as const) {
  test(`${what} › among many › is one search in order, nothing sorted`, async () => {
    const steps = await explain(work);
    assert.deepEqual(
      steps.map((step) => step.replace('COVERING ', '')),
      [plan],
    );
  });
}

test('store.close › while its only write waits for a lock › reads meanwhile, and ends once the pet is on the disk', async () => {
  const file = await createDatabase(1);
  const store = await openStore(`sqlite:${file}`, { create: false });
  await store.pets.add(REX);
  using other = new DatabaseSync(file);
  other.exec('begin immediate');
  const adding = store.pets.add(REX);
  await nextPoll();
  assert.equal((await store.pets.list({ limit: 9 })).pets.length, 2);
  const closing = store.close();
  await nextPoll();
  other.exec('commit');
  assert.equal((await adding).id, 3n);
  await closing;
  assert.equal(other.prepare('select max(id) as id from pets').get()?.id, 3);
});

test('pets.add › many while another holds the lock for too long › all are unavailable at once', async () => {
  const file = await createDatabase(1);
  await using store = await openStore(`sqlite:${file}`, { create: false });
  using other = new DatabaseSync(file);
  other.exec('begin immediate');
  const failed: string[] = [];
  const adding = Array.from({ length: 2_000 }, () =>
    store.pets.add(REX).catch(({ code, message }) => failed.push(`${code}: ${message}`)),
  );
  await Promise.race(adding);
  await nextPoll();
  assert.equal(failed.length, adding.length);
  assert.equal(failed[0], `unavailable: the database ${file} is locked by another process`);
  other.exec('rollback');
  assert.equal((await store.pets.add(REX)).id, 2n);
});

test('pets.find › another process commits after a get at the end of a turn › is the pet of the commit for a request that then comes', async (t) => {
  const file = await createDatabase(1);
  await using store = await openStore(`sqlite:${file}`, { create: false });
  const { id } = await store.pets.add(REX);
  let answer = (): void => undefined;
  const server = createServer((socket) => socket.on('data', () => answer()));
  t.after(() => server.close());
  const client = connect(await listen(server), '127.0.0.1');
  t.after(() => client.destroy());
  await once(client, 'connect');
  await store.pets.find(id);
  await nextPoll();
  const found = new Promise((resolve) => {
    answer = () => resolve(store.pets.find(id));
  });
  // Here the store is read for a request whose key was not cached.
  await setImmediate();
  await store.pets.find(id);
  alter(file, "update pets set name = 'Mia'");
  client.write('a request');
  assert.deepEqual(await found, { id, ...REX, name: 'Mia' });
});

test('createWriter › one that broke › fails its writes, and the next writes have another', async () => {
  const cwd = join(createProcessFolder(), 'later');
  await using writer = disposable(createWriter(join(cwd, 'store.db')));
  const starting = once(process, 'worker');
  // Its folder does not exist, so the thread ends at once.
  const breaking = assert.rejects(writer.commit([]), { message: 'unable to open database file' });
  const [broken] = await starting;
  const ended = new Promise((resolve) => broken.once('exit', resolve));
  await breaking;
  mkdirSync(cwd);
  assert.deepEqual(await writer.commit([[{ sql: 'create temp table t (a)', values: [] }]]), [[[]]]);
  await ended;
  assert.deepEqual(await writer.commit([[{ sql: 'select 1 from t', values: [] }]]), [[[]]]);
});

test('pets.add › two whose writer broke › both fail, and neither is added twice', async () => {
  await using store = await openStore(`sqlite:${createFile()}`, { create: true });
  const starting = once(process, 'worker');
  // As a thread that has no memory left, but may have committed.
  process.once('worker', (thread) => thread.emit('error', new Error('no memory is left')));
  const added = [store.pets.add(REX), store.pets.add(REX)];
  for (const adding of added) await assert.rejects(adding, { code: 'unavailable' });
  await store.pets.add(REX);
  const { pets } = await store.pets.list({ limit: 10 });
  assert.ok(pets.length <= 3, `${pets.length} pets of three creates`);
  const [broken] = await starting;
  await broken.terminate();
});

test('pets.merge › 50,000 pets with long names › needs memory for a few', async () => {
  const PETS = 50_000;
  const NAME_BYTES = 4_096;
  const address = `sqlite:${createFile()}`;
  await using store = await openStore(address, { create: true });
  let most = 0;
  async function* measured(count: number): AsyncGenerator<NewPet> {
    for (let index = 0; index < count; index += 1) {
      if (index % 100 === 0) most = Math.max(most, process.memoryUsage.rss());
      // A text with bytes of its own; repeat() gives one that shares them.
      yield { ...REX, name: Buffer.alloc(NAME_BYTES, '.').toString('latin1') };
    }
  }
  await store.pets.merge(measured(1_000));
  const before = process.memoryUsage.rss();
  assert.equal((await store.pets.merge(measured(PETS))).added, PETS);
  most = Math.max(most, process.memoryUsage.rss());
  const mib = (most - before) / 2 ** 20;
  // A few pages and batches, and what the garbage collector has not freed yet; all of them take 350 MiB.
  assert.ok(mib < 240, `${mib} MiB more`);
});
