/** The admin listener of the real program while its database is away. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { runBeside } from '../storage/contract/engines.ts';
import { runCommand } from '../support/command.ts';
import { holdInSession } from '../support/empty-database.ts';
import { readMetrics, sum } from '../support/metrics.ts';
import { createTestDatabase, endSessions, NO_SESSIONS } from '../support/postgres.ts';
import { startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';

const cwd = createProcessFolder();

test('/metrics › PostgreSQL does not answer, then ends all connections › has petstore_ready 0 long before /readyz is 503, and counts them as broken', {
  skip: NO_SESSIONS,
}, async () => {
  await using database = await createTestDatabase();
  const args = ['--database', database.address, '--database-timeout', '60'];
  await using service = await startService([...args, '--admin-port', '0'], { cwd });
  {
    await using _held = await holdInSession(database, 'lock table pets');
    let isChecked = false;
    const checked = fetch(`${service.url}/readyz`).finally(() => {
      isChecked = true;
    });
    checked.catch(() => undefined);
    assert.equal(sum(await within(readMetrics(service)), 'petstore_ready'), 0);
    assert.equal(isChecked, false);
  }
  await until(async () => sum(await readMetrics(service), 'petstore_ready') === 1);
  assert.ok(sum(await readMetrics(service), 'petstore_database_connections') >= 1);
  await endSessions(database.address);
  const broken = 'petstore_database_broken_connections_total';
  await until(async () => sum(await readMetrics(service), broken) > 0);
});

test('serve › the first key cannot be stored, with an admin port › exits with 1', async () => {
  const database = `sqlite:${join(cwd, 'refused.db')}`;
  const add = 'pets add --name Rex --category-id 1 --database'.split(' ');
  assert.equal((await runCommand([...add, database], { cwd })).status, 0);
  const refuse = "begin select raise(abort, 'no'); end";
  await runBeside(database, `create trigger refuse before insert on api_keys ${refuse}`);
  const serve = 'serve --port 0 --admin-port 0 --log-level silent --database'.split(' ');
  assert.equal((await runCommand([...serve, database], { cwd })).status, 1);
});
