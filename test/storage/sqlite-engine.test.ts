/** The engine on SQLite: its settings, query plans, outcomes, locks, transactions, copies and writer. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { NewPet } from '../../src/pet.ts';
import type { Engine } from '../../src/storage/engine.ts';
import { createKeyStore } from '../../src/storage/key-store.ts';
import { STORE_LIMITS } from '../../src/storage/limits.ts';
import { copyStore, openStore } from '../../src/storage/open.ts';
import { createPetStore } from '../../src/storage/pet-store.ts';
import { openSqlite } from '../../src/storage/sqlite/engine.ts';
import { createPetQueries } from '../../src/storage/sqlite/pet-queries.ts';
import { createWriter } from '../../src/storage/sqlite/writer.ts';
import { createStoreCounts } from '../../src/store.ts';
import { countPets } from '../support/count-pets.ts';
import { disposable } from '../support/disposable.ts';
import { listen } from '../support/socket.ts';
import { alter, createDatabase, createFile, PAGE_BYTES, unavailable } from '../support/sqlite.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { nextPoll, within } from '../support/until.ts';
import { combineFilters, REX, sampleField } from './contract/data.ts';

const ADD = "insert into pets (name, category_id) values ('Rex', 1)";

function openNew(file = ':memory:') {
  return openSqlite(file, { create: true });
}

function addAll(engine: Engine, ...names: readonly string[]) {
  return createPetStore(engine).merge(ReadableStream.from(names.map((name) => ({ ...REX, name }))));
}

test('engine.write › a file that cannot grow, or be written › says so, and the next write opens it anew', async () => {
  for (const file of [createFile(), ':memory:']) {
    await using engine = await openNew(file);
    const pets = createPetStore(engine);
    await engine.write({ sql: 'pragma max_page_count = 1', values: [] });
    const large = { ...REX, name: 'x'.repeat(40 * PAGE_BYTES) };
    const reason =
      'cannot grow: the disk is full, or that of temporary files (SQLITE_TMPDIR, TMPDIR, /var/tmp), or no id is left';
    await assert.rejects(pets.add(large), unavailable(file, reason));
    await engine.write({ sql: 'pragma query_only = on', values: [] });
    await assert.rejects(
      pets.add(REX),
      unavailable(file, 'cannot be written: its file and its folder must be writable'),
    );
    assert.deepEqual(await engine.read('select * from pets'), []);
    // As when the rights of the file are mended.
    const added = await pets.add(REX).catch(() => undefined);
    assert.equal(added?.id, file === ':memory:' ? undefined : 1n);
  }
});

test('pets.add › an insert without a row › is an error, and no pet is confirmed', async () => {
  await using engine = await openNew();
  const sql = 'create trigger none before insert on pets begin select raise(ignore); end';
  await engine.write({ sql, values: [] });
  await assert.rejects(createPetStore(engine).add(REX), { message: 'the database added no row' });
  assert.deepEqual(await engine.read('select * from pets'), []);
});

test('counts › pages and pets with and without a commit between, of this process and another › say which were read', async () => {
  const file = createFile();
  await using store = await openStore(`sqlite:${file}`, { create: true });
  using other = new DatabaseSync(file);
  const assertRead = async (
    ...counts: readonly [readPages: number, pages: number, all: number]
  ) => {
    await nextPoll();
    await store.pets.listAsJson({ limit: 1 });
    await store.pets.find(1n);
    const { readPages, pages, reads } = store.counts;
    assert.deepEqual([readPages, pages, reads], counts);
  };
  await assertRead(1, 1, 2);
  // What is not there is read each time.
  await assertRead(1, 2, 3);
  other.exec(ADD);
  await assertRead(2, 3, 5);
  await store.pets.add(REX);
  await assertRead(3, 4, 7);
  await assertRead(3, 5, 7);
  const { commits, committedWrites } = store.counts;
  assert.deepEqual({ commits, committedWrites }, { commits: 1, committedWrites: 1 });
});

test('pets.merge › while another holds the lock › waits for it, up to its limit', async (t) => {
  const file = createFile();
  await using engine = await openNew(file);
  using other = new DatabaseSync(file);
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const { mock } = t.mock.method(DatabaseSync.prototype, 'exec');
  /** Begins a merge that finds the file locked; resolves once it has tried again after this time. */
  const wait = async (ms: number) => {
    other.exec('begin immediate');
    const merging = addAll(engine, 'Rex');
    const ended = merging.then(() => assert.fail('it does not wait'));
    for (const passed of [0, ms]) {
      now += passed;
      const tries = mock.callCount();
      while (mock.callCount() < tries + 2) await Promise.race([ended, setTimeout(1)]);
    }
    return { merging };
  };
  const early = await wait(STORE_LIMITS.BUSY_MS_MAX.value);
  other.exec('commit');
  assert.equal((await early.merging).added, 1);

  const late = await wait(0);
  now += STORE_LIMITS.BUSY_MS_MAX.value + 1;
  await assert.rejects(within(late.merging), unavailable(file, 'is locked by another process'));
  other.exec('rollback');
});

test('engine.longTransaction › beside another process › a snapshot reads as of its beginning, an exclusive one keeps others out', async () => {
  const file = createFile();
  await using engine = await openNew(file);
  using other = new DatabaseSync(file, { timeout: 0 });
  const pets = createPetStore(engine);
  other.exec(`begin immediate; ${ADD}`);
  assert.equal(await countPets(pets), 0);
  const counts = await engine.longTransaction('snapshot', async ({ read }) => {
    const before = await read('select count(*) from pets');
    other.exec('commit');
    return [before, await read('select count(*) from pets')];
  });
  assert.deepEqual(counts, [[[0n]], [[0n]]]);
  assert.equal(await countPets(pets), 1);
  const add = () => other.exec(ADD);
  await engine.longTransaction('exclusive', async () => assert.throws(add, /database is locked/));
  add();
});

test('copyStore › between two pages › a signal has its turn', async () => {
  const [from, to] = [await createDatabase(3_000), createFile()];
  let turns = 0;
  let pages = 0;
  const onPets = () => {
    assert.equal(turns, pages);
    pages += 1;
    setImmediate(() => {
      turns += 1;
    });
  };
  await copyStore(`sqlite:${from}`, `sqlite:${to}`, { onPets });
  assert.equal(pages, 4);
});

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

test('pets.list by each set of filters, pets.find, keys.find › among many › are one search in order, nothing sorted', async () => {
  await using engine = await openSqlite(await createDatabase(100), { create: false });
  const steps: string[] = [];
  const read: Engine['read'] = async (sql, ...values) => {
    const plan = await engine.read(`explain query plan ${sql}`, ...values);
    steps.push(...plan.map((step) => String(step.at(-1)).replace('COVERING ', '')));
    return engine.read(sql, ...values);
  };
  const keys = createKeyStore(Object.assign(Object.create(engine), { read }));
  const pets = createPetQueries(read, () => 1, createStoreCounts());
  const page = { limit: 20, after: 7n };
  await pets.list(page);
  await pets.find(7n);
  await keys.find(Buffer.alloc(32));
  const expected = [
    'SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)',
    'SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)',
    'SEARCH api_keys USING INDEX sqlite_autoindex_api_keys_1 (digest=?)',
  ];
  for (const filters of combineFilters()) {
    const columns = filters.map(({ column }) => column);
    const values = filters.map(({ name }) => [name, sampleField(name)[0]]);
    await pets.list({ ...page, ...Object.fromEntries(values) });
    const search = `${columns.join('=? AND ')}=? AND rowid>?`;
    expected.push(`SEARCH pets USING INDEX pets_${columns.join('_')} (${search})`);
  }
  assert.deepEqual(steps, expected);
});

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
  // Long enough for a write that does not wait to fail.
  await setTimeout(50);
  other.exec('commit');
  assert.equal((await adding).id, 3n);
  await closing;
  assert.equal(other.prepare('select max(id) as id from pets').get()?.id, 3);
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
  await nextTurn();
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
  const startingAgain = once(process, 'worker');
  assert.deepEqual(await writer.commit([[{ sql: 'create temp table t (a)', values: [] }]]), [[[]]]);
  await ended;
  const [thread] = await startingAgain;
  const listeners = thread.listenerCount('error');
  assert.deepEqual(await writer.commit([[{ sql: 'select 1 from t', values: [] }]]), [[[]]]);
  assert.equal(thread.listenerCount('error'), listeners, 'a commit leaves none behind');
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

test('pets.merge › pets that are corrected, or refused › leaves no temporary table', async () => {
  await using engine = await openNew(createFile());
  const { add, merge } = createPetStore(engine);
  const pet = { ...(await add(REX)), name: 'Mia' };
  const { corrected } = await merge(ReadableStream.from([pet]), { update: true });
  await assert.rejects(merge(ReadableStream.from([pet, pet]), { update: true }), /given twice/);
  assert.equal(corrected, 1);
  assert.deepEqual(await engine.read('select name from sqlite_temp_schema'), []);
});

test('pets.merge › 5,000 pets with long names › has few of them on its heap', async () => {
  const NAME_BYTES = 4_096;
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  await using engine = await openNew(createFile());
  let most = 0;
  const measure = () => {
    collectGarbage();
    most = Math.max(most, process.memoryUsage().heapUsed);
  };
  async function* measured(): AsyncGenerator<NewPet> {
    for (let index = 0; index < 5_000; index += 1) {
      if (index % 500 === 499) measure();
      // A text with bytes of its own; repeat() gives one that shares them.
      yield { ...REX, name: Buffer.alloc(NAME_BYTES, '.').toString('latin1') };
    }
  }
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const { added } = await createPetStore(engine).merge(measured());
  measure();
  const pets = (most - before) / NAME_BYTES;
  assert.ok(added === 5_000 && pets < 3_000, `${pets} of ${added} pets`);
});
