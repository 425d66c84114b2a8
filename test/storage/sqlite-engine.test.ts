/** The engine on SQLite, which the stores have between them and node:sqlite: outcomes, locks, transactions and copies. */

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Engine } from '../../src/storage/engine.ts';
import { STORE_LIMITS } from '../../src/storage/limits.ts';
import { copyStore, openStore } from '../../src/storage/open.ts';
import { createPetStore } from '../../src/storage/pet-store.ts';
import { openSqlite } from '../../src/storage/sqlite/engine.ts';
import { countPets } from '../support/count-pets.ts';
import { createFile, PAGE_BYTES } from '../support/sqlite.ts';
import { within } from '../support/until.ts';
import { REX } from './contract/data.ts';

const PET = ['name', 'category_id'];
const ADD = "insert into pets (name, category_id) values ('Rex', 1)";

function openNew(file = ':memory:') {
  return openSqlite(file, { create: true });
}

function addAll(engine: Engine, ...names: readonly string[]) {
  return createPetStore(engine).merge(ReadableStream.from(names.map((name) => ({ ...REX, name }))));
}

function unavailable(file: string, message: string) {
  return { name: 'PetstoreError', code: 'unavailable', message: `the database ${file} ${message}` };
}

test('engine.write › a file that cannot grow, or be written › says so', async () => {
  for (const file of [createFile(), ':memory:']) {
    await using engine = await openNew(file);
    const pets = createPetStore(engine);
    await engine.write({ sql: 'pragma max_page_count = 1', values: [] });
    const large = { ...REX, name: 'x'.repeat(40 * PAGE_BYTES) };
    const reason = 'cannot grow: the disk is full, or no id is left';
    await assert.rejects(pets.add(large), unavailable(file, reason));
    await engine.write({ sql: 'pragma query_only = on', values: [] });
    await assert.rejects(
      pets.add(REX),
      unavailable(file, 'cannot be written: its file and its folder must be writable'),
    );
    assert.deepEqual(await engine.read('select * from pets'), []);
  }
});

test('engine.write › one whose failure undoes the whole transaction › fails with its reason, the others stand', async () => {
  for (const file of [createFile(), ':memory:']) {
    await using engine = await openNew(file);
    await engine.write({
      sql: "create trigger refuse before insert on pets when new.name = 'bad' begin select raise(rollback, 'no'); end",
      values: [],
    });
    const pets = createPetStore(engine);
    const settled = await Promise.allSettled(
      ['good', 'bad', 'good'].map((name) => pets.add({ ...REX, name })),
    );
    assert.deepEqual(
      settled.map((one) => (one.status === 'fulfilled' ? one.value.id : String(one.reason))),
      [1n, 'Error: no', 2n],
    );
    await assert.rejects(addAll(engine, 'good', 'bad'), /^Error: no$/);
    assert.equal(await countPets(pets), 2);
    assert.equal((await pets.add(REX)).id, 3n);
  }
});

test('statistics › pages with and without a commit between, of this process and another › says which were read', async () => {
  const file = createFile();
  await using store = await openStore(`sqlite:${file}`, { create: true });
  using other = new DatabaseSync(file);
  const assertListed = async (...counts: readonly [readPages: number, pages: number]) => {
    await setTimeout(1);
    await store.pets.listAsJson({ limit: 1 });
    const { readPages, pages } = store.statistics;
    assert.deepEqual([readPages, pages], counts);
  };
  await assertListed(1, 1);
  await assertListed(1, 2);
  other.exec(ADD);
  await assertListed(2, 3);
  await assertListed(2, 4);
  await store.pets.add(REX);
  await assertListed(3, 5);
  await assertListed(3, 6);
  const { commits, committedWrites } = store.statistics;
  assert.deepEqual({ commits, committedWrites }, { commits: 1, committedWrites: 1 });
});

test('pets.find › without a commit between › reads a pet once, and what is not there each time', async () => {
  await using engine = await openNew();
  await addAll(engine, 'Rex');
  for (const [id, reads] of [
    [1n, 1],
    [1n, 1],
    [2n, 2],
    [2n, 3],
  ] as const) {
    await engine.petQueries.find(id);
    assert.equal(engine.statistics.reads, reads);
  }
});

test('pets.merge › while another holds the lock › waits for it, for four seconds at most', async (t) => {
  const file = createFile();
  await using engine = await openNew(file);
  using other = new DatabaseSync(file);
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const load = () => {
    const loading = addAll(engine, 'Rex');
    const ended = loading.catch(() => undefined);
    const waits = async () => (await Promise.race([ended, setTimeout(30, 'waits')])) === 'waits';
    return { loading, waits };
  };

  other.exec('begin immediate');
  const early = load();
  assert.ok(await early.waits());
  now = STORE_LIMITS.BUSY_MS_MAX.value;
  assert.ok(await early.waits());
  other.exec('commit');
  assert.equal((await early.loading).added, 1);

  other.exec('begin immediate');
  const late = load();
  assert.ok(await late.waits());
  now = 2 * STORE_LIMITS.BUSY_MS_MAX.value + 1;
  const refusal = unavailable(file, 'is locked by another process');
  await assert.rejects(within(late.loading), refusal);
  other.exec('rollback');
});

test('engine.transact › a snapshot while another writes › reads as of its beginning', async () => {
  const file = createFile();
  await using engine = await openNew(file);
  using other = new DatabaseSync(file);
  const pets = createPetStore(engine);
  other.exec(`begin immediate; ${ADD}`);
  assert.equal(await countPets(pets), 0);
  const counts = await engine.transact('snapshot', async ({ read }) => {
    const before = await read('select count(*) from pets');
    other.exec('commit');
    return [before, await read('select count(*) from pets')];
  });
  assert.deepEqual(counts, [[[0n]], [[0n]]]);
  assert.equal(await countPets(pets), 1);
});

test('engine.transact › an exclusive one › keeps others out, and is undone when its work fails', async () => {
  const file = createFile();
  await using engine = await openNew(file);
  using other = new DatabaseSync(file, { timeout: 0 });
  const page = async () => (await engine.petQueries.listAsJson({ limit: 9 })).json;
  assert.equal(await page(), '[]');
  const add = (error?: Error) =>
    engine.transact('exclusive', async ({ insert, readLastId, writeLastId }) => {
      assert.throws(() => other.exec(ADD), /database is locked/);
      assert.equal(await readLastId('pets'), 0n);
      await insert('pets', ['id', ...PET], [[7n, 'Rex', 1n]]);
      await writeLastId('pets', 9n);
      if (error) throw error;
      return readLastId('pets');
    });
  const wrong = new Error('row 7 is wrong');
  await assert.rejects(add(wrong), wrong);
  assert.equal(await page(), '[]');
  assert.equal(await add(), 9n);
  assert.equal(await page(), '[{"id":7,"name":"Rex","categoryId":1}]');
  other.exec(ADD);
  assert.equal(other.prepare('select max(id) as id from pets').get()?.id, 10);
});

test('copyStore › between two pages › a signal has its turn', async () => {
  const [from, to] = [createFile(), createFile()];
  {
    await using source = await openNew(from);
    await addAll(source, ...Array<string>(3_000).fill('Rex'));
  }
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
