/** `petstore copy`: its output and its exit status. */

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import { createNewKey, repeat } from '../storage/contract/data.ts';
import { runCommand } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { assertRefused, type Finished } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const DONE =
  /^copied 1,200 pets\nWith 1 key\. Each row was read back, and is the same\.\nFrom \S+ to \S+\.\n$/;

describe('copy', () => {
  const cwd = createProcessFolder();
  let database: TestDatabase;
  /** The database, with a password. */
  let postgres: string;
  before(async () => {
    database = await createTestDatabase();
    const url = new URL(database.address);
    url.password ||= 's3cr3t';
    postgres = url.href;
    const address = `sqlite:${join(cwd, 'first.db')}`;
    await using store = await openStore(address, { create: true });
    await store.pets.merge(
      repeat(1_200, { name: 'Rex', categoryId: 2n ** 63n - 1n, status: 'sold' }),
    );
    await store.keys.add(createNewKey());
  });
  after(() => database[Symbol.asyncDispose]());

  const run = async (args: readonly string[], env = {}): Promise<Finished> => {
    const finished = await runCommand(args, { cwd, env });
    assert.ok(!`${finished.stdout}${finished.stderr}`.includes(new URL(postgres).password));
    assert.doesNotMatch(finished.stderr, /^ {4}at /m);
    return finished;
  };

  const exported = async (address: string): Promise<string> =>
    (await run(['pets', 'export', '--database', address])).stdout;

  test('copy › to PostgreSQL by flags and back by variables › is the same store', async () => {
    const copy = ['copy', '--from', 'sqlite:first.db', '--to', postgres];
    const there = await run(copy);
    const back = await run(['copy'], { PETSTORE_FROM: postgres, PETSTORE_TO: 'sqlite:last.db' });
    for (const { status, stdout, stderr } of [there, back]) {
      assert.deepEqual([status, stdout], [0, '']);
      assert.match(stderr, DONE);
    }
    const { host, pathname } = new URL(postgres);
    const shown = `postgres://${host}${pathname}`;
    assert.ok(there.stderr.endsWith(`\nFrom sqlite:${cwd}/first.db to ${shown}.\n`));
    const rows = await exported('sqlite:first.db');
    assert.equal(rows.split('\n').length, 1_201);
    assert.equal(await exported(postgres), rows);
    assert.equal(await exported('sqlite:last.db'), rows);

    const line = 'the store to copy to is not empty: name an empty one; nothing was copied';
    assertRefused(await run(copy), 1, line);
  });

  test('copy › a store that is not there › exits with 1 and one line, and makes none', async () => {
    const finished = await run(['copy', '--from', 'sqlite:missing.db', '--to', 'sqlite:no.db']);
    assertRefused(finished, 1, 'there is no database missing.db; nothing was copied');
    assert.ok(!(await readdir(cwd)).includes('no.db'));
  });
});
