/** `petstore copy`: its output and its exit status. */

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import { createNewKey, repeat } from '../storage/contract/data.ts';
import { runCommand } from '../support/command.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { assertRefused, type Finished } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const DONE =
  /^copied 1,200 pets\nWith 1 key\. Each row was read back, and is the same\.\nFrom \S+ to \S+\.\n$/;

test('copy › to PostgreSQL by flags and back by variables › is the same store', async () => {
  const cwd = createProcessFolder();
  await using database = await createTestDatabase();
  const url = new URL(database.address);
  url.password ||= 's3cr3t';
  {
    await using store = await openStore(`sqlite:${cwd}/first.db`, { create: true });
    const pets = repeat(1_200, { name: 'Rex', categoryId: 2n ** 63n - 1n, status: 'sold' });
    await store.pets.merge(pets);
    await store.keys.add(createNewKey());
  }
  const run = async (args: readonly string[], env = {}): Promise<Finished> => {
    const finished = await runCommand(args, { cwd, env });
    assert.ok(!`${finished.stdout}${finished.stderr}`.includes(url.password));
    return finished;
  };

  const copy = ['copy', '--from', 'sqlite:first.db', '--to', url.href];
  const there = await run(copy);
  const back = await run(['copy'], { PETSTORE_FROM: url.href, PETSTORE_TO: 'sqlite:last.db' });
  for (const { status, stdout, stderr } of [there, back]) {
    assert.deepEqual([status, stdout], [0, '']);
    assert.match(stderr, DONE);
  }
  const shown = `postgres://${url.host}${url.pathname}`;
  assert.ok(there.stderr.endsWith(`\nFrom sqlite:${cwd}/first.db to ${shown}.\n`));
  const [first, ...others] = await Promise.all(
    ['sqlite:first.db', url.href, 'sqlite:last.db'].map(
      async (address) => (await run(['pets', 'export', '--database', address])).stdout,
    ),
  );
  assert.equal(first?.split('\n').length, 1_201);
  assert.deepEqual(others, [first, first]);

  const line = 'the store to copy to is not empty: name an empty one; nothing was copied';
  assertRefused(await run(copy), 1, line);
});

test('copy › a store that is not there › exits with 1 and one line, and makes none', async () => {
  const cwd = createProcessFolder();
  const args = ['copy', '--from', 'sqlite:missing.db', '--to', 'sqlite:no.db'];
  const line = 'there is no database missing.db; nothing was copied';
  assertRefused(await runCommand(args, { cwd }), 1, line);
  assert.deepEqual(await readdir(cwd), []);
});
