/** The admin listener of the real program: what it counts, over all processes, and who may see it. */

import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runBeside } from '../storage/contract/engines.ts';
import { runCommand } from '../support/command.ts';
import { holdInSession } from '../support/empty-database.ts';
import { readMetrics, sum } from '../support/metrics.ts';
import { createTestDatabase, endSessions, NO_SESSIONS } from '../support/postgres.ts';
import { runProgram, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';

const cwd = createProcessFolder();

describe('the admin listener', { concurrency: 2 }, () => {
  test('/metrics › two workers under requests of each kind, then a database file that is away › has all counts, and petstore_ready 0', async () => {
    const file = join(cwd, 'counts.db');
    const args = ['--database', `sqlite:${file}`, '--workers', '2'];
    await using service = await startService([...args, '--admin-port', '0'], { cwd });
    const { key, url } = service;
    const headers = { authorization: `Bearer ${key}`, connection: 'close' };
    const post = {
      ...{ method: 'POST', body: '{"name":"Rex","categoryId":1}' },
      headers: { ...headers, 'content-type': 'application/json' },
    };
    // On connections of their own, so that both workers answer.
    for (let count = 0; count < 8; count += 1) {
      await fetch(`${url}/v1/pets`, { headers });
      await fetch(`${url}/v1/pets`, post);
    }
    await fetch(`${url}/v1/pets`);
    const metrics = await readMetrics(service);
    const requests = 'petstore_http_request_duration_seconds_count';
    const list = ['method="GET"', 'route="/v1/pets"', 'status="200"'];
    assert.equal(sum(metrics, requests, ...list), 8);
    assert.equal(sum(metrics, requests, 'status="201"'), 8);
    assert.equal(sum(metrics, 'petstore_key_requests_total', 'key_id="1"'), 16);
    const refusals = 'petstore_http_refusals_total';
    assert.equal(sum(metrics, refusals, 'code="unauthorized"', 'reason="missing"'), 1);
    // The first key is a write too, and the time of last use.
    const writes = sum(metrics, 'petstore_committed_writes_total');
    assert.ok(writes >= 9 && writes <= 12, `${writes} writes`);
    assert.ok(sum(metrics, 'petstore_commit_seconds_total') > 0);
    assert.equal(sum(metrics, 'petstore_page_reads_total'), 8);
    assert.match(metrics, /^process_cpu_seconds_total /m);
    assert.ok(!metrics.includes(key));
    assert.equal(sum(metrics, 'petstore_ready'), 1);
    renameSync(file, `${file}.away`);
    await until(async () => (await fetch(`${url}/readyz`)).status === 503);
    await until(async () => sum(await readMetrics(service), 'petstore_ready') === 0);
  });

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
    assert.equal((await runProgram([...serve, database], { cwd })).status, 1);
  });
});
