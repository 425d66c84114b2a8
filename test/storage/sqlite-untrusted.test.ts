/** A file of SQLite to which somebody has added tables, indexes or triggers: what works, and what nothing in it can do. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import { SETTINGS, SqliteConnection } from '../../src/storage/sqlite/connection.ts';
import { disposable } from '../support/disposable.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const REX = { name: 'Rex', categoryId: 1n };

/** The tables that Litestream adds to each file that it replicates. */
const LITESTREAM = `create table _litestream_seq (id integer primary key, seq integer);
  create table _litestream_lock (id integer)`;

describe('a changed SQLite file', () => {
  const folder = createProcessFolder();

  /** A store that was closed, and then changed by other means. */
  async function createChanged(name: string, sql: string): Promise<string> {
    const file = join(folder, `${name}.db`);
    await (await openStore(`sqlite:${file}`, { create: true })).close();
    change(file, sql);
    return file;
  }

  function change(file: string, sql: string): void {
    using connection = new DatabaseSync(file, { defensive: false });
    connection.exec(sql);
  }

  test('openStore › a file with the tables of Litestream and an index of the operator › opens and works', async () => {
    const sql = `${LITESTREAM}; create index of_operator on pets (name); analyze`;
    const file = await createChanged('replicated', sql);
    await using store = disposable(await openStore(`sqlite:${file}`, { create: false }));
    const rex = await store.pets.add(REX);
    assert.deepEqual((await store.pets.list({ limit: 1 })).pets, [rex]);
    await store.check();
  });

  test('store.pets.add › a trigger that reads a pragma › fails, since the schema is not trusted', async () => {
    const sql = `create trigger act after insert on pets
      begin select * from pragma_table_info('pets'); end`;
    const file = await createChanged('acting', sql);
    await using store = disposable(await openStore(`sqlite:${file}`, { create: false }));
    await assert.rejects(store.pets.add(REX), /unsafe use of virtual table/);
  });

  test('SqliteConnection › a statement against the schema › is refused', () => {
    using connection = new SqliteConnection(join(folder, 'defended.db'), 0);
    connection.exec(SETTINGS);
    connection.exec('create table t (id integer); pragma writable_schema = on');
    assert.throws(() => connection.exec('delete from sqlite_schema'), /may not be modified/);
    assert.deepEqual(connection.run('pragma trusted_schema', []), [[0n]]);
  });
});
