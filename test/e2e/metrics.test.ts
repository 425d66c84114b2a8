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

const REQUESTS = 'petstore_http_request_duration_seconds_count';

describe('the admin listener', { concurrency: 2 }, () => {
  test('/metrics › two workers under requests of each kind › counts each', async () => {
    const args = ['--database', 'sqlite:counts.db', '--workers', '2'];
    await using service = await startService([...args, '--admin-port', '0'], { cwd });
    const { key, url } = service;
    const headers = { authorization: `Bearer ${key}`, connection: 'close' };
    const pet = { method: 'POST', body: '{"name":"Rex","categoryId":1}' };
    for (let count = 0; count < 8; count += 1) {
      await fetch(`${url}/v1/pets`, { headers });
      await fetch(`${url}/v1/pets`, {
        ...pet,
        headers: { ...headers, 'content-type': 'application/json' },
      });
    }
    await fetch(`${url}/v1/pets/1`, { headers });
    await fetch(`${url}/v1/pets`);
    await fetch(`${url}/v1/pets?limit=0`, { headers });
    const metrics = await readMetrics(service);
    const list = ['method="GET"', 'route="/v1/pets"', 'status="200"'];
    assert.equal(sum(metrics, REQUESTS, ...list), 8);
    assert.equal(sum(metrics, REQUESTS, 'status="201"'), 8);
    assert.equal(sum(metrics, REQUESTS, 'route="/v1/pets/:petId"'), 1);
    assert.equal(sum(metrics, 'petstore_key_requests_total', 'key_id="1"'), 18);
    const refusals = 'petstore_http_refusals_total';
    assert.equal(sum(metrics, refusals, 'code="unauthorized"', 'reason="missing"'), 1);
    assert.equal(sum(metrics, refusals, 'code="bad_request"', 'reason=""'), 1);
    // The first key is a write too, and the time of last use.
    const writes = sum(metrics, 'petstore_committed_writes_total');
    assert.ok(writes >= 9 && writes <= 12, `${writes} writes`);
    assert.ok(sum(metrics, 'petstore_commit_seconds_total') > 0);
    assert.equal(sum(metrics, 'petstore_page_reads_total'), 8);
    assert.match(metrics, /^process_cpu_seconds_total /m);
    assert.ok(!metrics.includes(key));
  });

  test('/metrics › two workers, a database file that is away › petstore_ready is 0, as /readyz is 503', async () => {
    const file = join(cwd, 'away.db');
    const args = ['--database', `sqlite:${file}`, '--workers', '2', '--admin-port', '0'];
    await using service = await startService(args, { cwd });
    assert.equal(sum(await readMetrics(service), 'petstore_ready'), 1);
    renameSync(file, `${file}.away`);
    await until(async () => (await fetch(`${service.url}/readyz`)).status === 503);
    await until(async () => sum(await readMetrics(service), 'petstore_ready') === 0);
  });

  test('/metrics › PostgreSQL ends a connection without work › counts it as broken', {
    skip: NO_SESSIONS,
  }, async () => {
    await using database = await createTestDatabase();
    const args = ['--database', database.address, '--admin-port', '0'];
    await using service = await startService(args, { cwd });
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
    assert.ok(sum(await readMetrics(service), 'petstore_database_connections') >= 1);
    await endSessions(database.address);
    const name = 'petstore_database_broken_connections_total';
    await until(async () => sum(await readMetrics(service), name) > 0);
  });

  test('/metrics › PostgreSQL does not answer › has petstore_ready 0 long before /readyz is 503', {
    skip: NO_SESSIONS,
  }, async () => {
    await using database = await createTestDatabase();
    const args = ['--database', database.address, '--database-timeout', '60'];
    await using service = await startService([...args, '--admin-port', '0'], { cwd });
    {
      await using _held = await holdInSession(database, 'lock table pets');
      assert.equal(sum(await within(readMetrics(service)), 'petstore_ready'), 0);
    }
    await until(async () => sum(await readMetrics(service), 'petstore_ready') === 1);
  });

  test('serve › the first key cannot be stored, with an admin port › exits with 1', async () => {
    await using database = await createTestDatabase();
    const address = ['--database', database.address];
    const add = ['pets', 'add', '--name', 'Rex', '--category-id', '1'];
    assert.equal((await runCommand([...add, ...address], { cwd })).status, 0);
    await runBeside(
      database.address,
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger refuse before insert on api_keys for each row execute function refuse()`,
    );
    const args = ['serve', '--port', '0', '--admin-port', '0', '--log-level', 'silent'];
    assert.equal((await runProgram([...args, ...address], { cwd })).status, 1);
  });
});
