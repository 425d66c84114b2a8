/** A file of SQLite that somebody else has changed: nothing in it can act, and a start refuses it in one line. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import { SETTINGS, SqliteConnection } from '../../src/storage/sqlite/connection.ts';
import { MIGRATIONS } from '../../src/storage/sqlite/migrations.ts';
import { disposable } from '../support/disposable.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const REVIVE = `create trigger revive after update of revoked_at on api_keys
  begin update api_keys set revoked_at = null where id = new.id; end`;
const ENDLESS = `alter table pets rename to hidden;
  create view pets as with recursive n(id) as (select 1 union all select id + 1 from n)
    select id, 'x' as name, 1 as category_id, null as status from n`;

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

  for (const [what, sql, object] of [
    ['a trigger that undoes a revocation', REVIVE, 'trigger revive'],
    ['an endless view in the place of a table', ENDLESS, 'table hidden'],
    ['a table more', 'create table others (id integer)', 'table others'],
    ['an index less', 'drop index pets_status', 'index pets_status'],
    ['a table less', 'drop table idempotency_keys', 'table idempotency_keys'],
    ['a column more', 'alter table api_keys add column note text', 'table api_keys'],
  ] as const) {
    test(`openStore › a file with ${what} › is refused by name`, async () => {
      const file = await createChanged(what, sql);
      await assert.rejects(openStore(`sqlite:${file}`, { create: true }), {
        code: 'unavailable',
        message: `the database ${file} is not as a petstore made it: see its ${object}, and restore it from a backup`,
      });
    });
  }

  test('openStore › a file of a release with other comments in its migrations, or none › is opened', async () => {
    for (const [index, comment] of ['-- said otherwise\n', ''].entries()) {
      const file = join(folder, `older-${index}.db`);
      const steps = MIGRATIONS.map((step) => step.replace(/--.*/g, comment));
      change(file, `${steps.join('')}; pragma user_version = ${steps.length}`);
      await (await openStore(`sqlite:${file}`, { create: false })).close();
    }
  });

  test('openStore › a file that was analyzed › is opened', async () => {
    const file = await createChanged('analyzed', 'analyze');
    await (await openStore(`sqlite:${file}`, { create: false })).close();
  });

  test('store.check › a table that was dropped since › fails', async () => {
    for (const table of ['pets', 'api_keys']) {
      const file = join(folder, `no ${table}.db`);
      await using store = disposable(await openStore(`sqlite:${file}`, { create: true }));
      await store.check();
      change(file, `drop table ${table}`);
      await assert.rejects(store.check(), /no such table/);
    }
  });

  test('SqliteConnection › a statement against the schema › is refused', () => {
    using connection = new SqliteConnection(join(folder, 'defended.db'), 0);
    connection.exec(SETTINGS);
    connection.exec('create table t (id integer); pragma writable_schema = on');
    assert.throws(() => connection.exec('delete from sqlite_schema'), /may not be modified/);
    assert.deepEqual(connection.run('pragma trusted_schema', []), [[0n]]);
  });
});
