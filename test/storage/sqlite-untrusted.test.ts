/** A file of SQLite to which somebody has added tables, indexes or triggers: what works, and what nothing in it can do. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import { SETTINGS, SqliteConnection } from '../../src/storage/sqlite/connection.ts';
import { alter, createDatabase } from '../support/sqlite.ts';
import { REX } from './contract/data.ts';

/** A store on a file that was changed by other means. */
async function openChanged(sql: string) {
  const file = alter(await createDatabase(1), sql);
  return await openStore(`sqlite:${file}`, { create: false });
}

test('openStore › a file with the tables of Litestream and an index of the operator › opens and works', async () => {
  await using store = await openChanged(`
    create table _litestream_seq (id integer primary key, seq integer);
    create table _litestream_lock (id integer);
    create index of_operator on pets (name); analyze`);
  const rex = await store.pets.add(REX);
  assert.deepEqual((await store.pets.list({ limit: 1, after: 1n })).pets, [rex]);
  await store.check();
});

test('store.pets.add › a trigger that reads a pragma › fails, since the schema is not trusted', async () => {
  await using store = await openChanged(
    `create trigger act after insert on pets
      begin select * from pragma_table_info('pets'); end`,
  );
  await assert.rejects(store.pets.add(REX), /unsafe use of virtual table/);
});

test('SqliteConnection › a statement against the schema › is refused', () => {
  using connection = new SqliteConnection(':memory:', 0);
  connection.exec(SETTINGS);
  connection.exec('create table t (id integer); pragma writable_schema = on');
  assert.throws(() => connection.exec('delete from sqlite_schema'), /may not be modified/);
});
