/** The admin listener of the real program: what it counts, over all processes, and who may see it. */

import assert from 'node:assert/strict';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import pg from 'pg';
import { listChildren } from '../support/children.ts';
import { runCommand } from '../support/command.ts';
import { getAdmin, readMetrics, sum } from '../support/metrics.ts';
import { createTestDatabase, endSessions, NO_SESSIONS } from '../support/postgres.ts';
import { runProgram, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';

const NO_PROC = !existsSync('/proc') && 'the workers of a process are found in /proc';

const cwd = createProcessFolder();

const REQUESTS = 'petstore_http_request_duration_seconds_count';

describe('the admin listener', { concurrency: 2 }, () => {
  for (const workers of ['1', '2']) {
    test(`/metrics › ${workers} of --workers under requests of each kind › counts each`, async () => {
      const args = ['--database', `sqlite:${workers}.db`, '--workers', workers];
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
      assert.equal(sum(metrics, 'petstore_waiting_writes'), 0);
      assert.equal(sum(metrics, 'petstore_build_info', `node="${process.version}"`), 1);
      assert.match(metrics, /^process_cpu_seconds_total /m);
      assert.ok(!metrics.includes(key));
    });
  }

  test('/metrics › frozen workers › has the others, and is 503 when none is left', {
    skip: NO_PROC,
  }, async () => {
    const args = ['--database', 'sqlite:frozen.db', '--workers', '3', '--admin-port', '0'];
    await using service = await startService(args, { cwd });
    const url = `${getAdmin(service)}/metrics`;
    const [frozen = 0, ...others] = await listChildren(service.process.pid);
    try {
      process.kill(frozen, 'SIGSTOP');
      const metrics = await readMetrics(service);
      assert.equal(sum(metrics, 'petstore_workers'), 3);
      assert.equal(sum(metrics, 'petstore_workers_answering'), 2);
      for (const pid of others) process.kill(pid, 'SIGSTOP');
      const answers = await Promise.all([fetch(url), fetch(url)]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [503, 503],
      );
    } finally {
      for (const pid of [frozen, ...others]) process.kill(pid, 'SIGCONT');
    }
    await until(async () => sum(await readMetrics(service), 'petstore_workers_answering') === 3);
  });

  for (const workers of ['1', '2']) {
    test(`/metrics › ${workers} of --workers, a database file that is away › petstore_ready is 0, as /readyz is 503`, async () => {
      const file = join(cwd, `away${workers}.db`);
      const args = ['--database', `sqlite:${file}`, '--workers', workers, '--admin-port', '0'];
      await using service = await startService(args, { cwd });
      assert.equal(sum(await readMetrics(service), 'petstore_ready'), 1);
      renameSync(file, `${file}.away`);
      await until(async () => (await fetch(`${service.url}/readyz`)).status === 503);
      await until(async () => sum(await readMetrics(service), 'petstore_ready') === 0);
    });
  }

  test('/metrics › on PostgreSQL › has the connections to it, and not its password', async () => {
    await using database = await createTestDatabase();
    // A start on a busy machine may read an answer so late that its connection counts as broken.
    const args = ['--database', database.address, '--database-timeout', '30'];
    await using service = await startService([...args, '--admin-port', '0'], { cwd });
    const metrics = await readMetrics(service);
    assert.ok(sum(metrics, 'petstore_database_connections') >= 1);
    assert.equal(sum(metrics, 'petstore_database_broken_connections_total'), 0);
    assert.ok(!metrics.includes(new URL(database.address).host));
  });

  test('/metrics › PostgreSQL ends a connection without work › counts it as broken', {
    skip: NO_SESSIONS,
  }, async () => {
    await using database = await createTestDatabase();
    const args = ['--database', database.address, '--admin-port', '0'];
    await using service = await startService(args, { cwd });
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
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
    const other = new pg.Client(database.address);
    await other.connect();
    try {
      await other.query('begin; lock table pets');
      assert.equal(sum(await within(readMetrics(service)), 'petstore_ready'), 0);
    } finally {
      await other.end();
    }
    await until(async () => sum(await readMetrics(service), 'petstore_ready') === 1);
  });

  test('serve › the first key cannot be stored, with an admin port › exits with 1', async () => {
    await using database = await createTestDatabase();
    const address = ['--database', database.address];
    const add = ['pets', 'add', '--name', 'Rex', '--category-id', '1'];
    assert.equal((await runCommand([...add, ...address], { cwd })).status, 0);
    const client = new pg.Client(database.address);
    await client.connect();
    await client.query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'no'; end $$;
      create trigger refuse before insert on api_keys for each row execute function refuse()`);
    await client.end();
    const args = ['serve', '--port', '0', '--admin-port', '0', '--log-level', 'silent'];
    assert.equal((await runProgram([...args, ...address], { cwd })).status, 1);
  });
});
