/** Commands that only read, with the address of a standby, so that a long one does not slow creates. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import { queryOnce, startCluster } from '../support/postgres-cluster.ts';
import { assertRefused, runProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const READ_ONLY =
  'is read-only: the address leads to a standby, or default_transaction_read_only is on';

test('standby › commands that only read › have its pets, and one that adds is refused', async () => {
  const cwd = createProcessFolder();
  await using primary = await startCluster();
  await using standby = await primary.startStandby();
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

  const serving = await run('serve', '--port', '0', '--start-timeout', '1');
  assert.equal(serving.status, 1);
  assert.match(serving.stderr, new RegExp(`${READ_ONLY}; trying again for 1 s`));
  const adding = await run('pets', 'add', '--name', 'Mia', '--category-id', '1');
  assertRefused(adding, 1, `the database ${READ_ONLY}`);
});
