/** Ten replicas that start at the same time on an empty database. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { queryOnce } from '../support/postgres-cluster.ts';
import type { RunningService } from '../support/program.ts';
import { startLoad } from './load.ts';
import * as petstore from './petstore.ts';

const REPLICAS = 10;
/** Whether two of them meet is a matter of chance. */
const ROUNDS = 3;
const TABLES = ['api_keys', 'counters', 'idempotency_keys', 'pets', 'petstore_schema'];

for (let round = 1; round <= ROUNDS; round += 1) {
  test(
    `start › ${REPLICAS} replicas at once, time ${round} › make one schema and count as one`,
    startAll,
  );
}

async function startAll(t: TestContext): Promise<void> {
  await using cluster = await petstore.startDatabase({ max_connections: '150' });
  const address = petstore.toAddress([petstore.toHost(cluster)]);
  const starts = await Promise.allSettled(
    Array.from({ length: REPLICAS }, () => petstore.startReplica(address, ['--log-level', 'warn'])),
  );
  const services = starts.flatMap((start) => (start.status === 'fulfilled' ? start.value : []));
  try {
    assert.deepEqual(
      starts.flatMap((start) => (start.status === 'rejected' ? String(start.reason) : [])),
      [],
    );
    await assertOneSchema(cluster.url('petstore'));

    const [first, ...others] = services as [RunningService, ...RunningService[]];
    const keys = services.map((service) => service.key).filter((found) => found !== '');
    assert.equal(keys.length, 1);
    const [key = ''] = keys;
    const created = new Map([[await petstore.create(first, key, 'first'), 'first']]);
    const replicas = { services: [first, ...others] as const, key, created };
    const load = startLoad(replicas, 'ten', 1);
    // Ten cold processes that connect at once may refuse requests at first.
    await load.waitForReturn(performance.now());
    await load.stop();
    t.diagnostic(
      `${created.size} creates on ${REPLICAS} replicas, slowest answer ${load.slowestMs} ms`,
    );
    assert.deepEqual(load.violations, []);
    assert.ok((await petstore.assertKept(replicas)) <= load.refusals);
    petstore.assertAliveAndSecret(replicas);
    assert.deepEqual(
      services.map(({ output }) => output.stderr),
      services.map(() => ''),
    );
  } finally {
    for (const service of services) await service[Symbol.asyncDispose]();
  }
}

async function assertOneSchema(url: string): Promise<void> {
  const tables = await queryOnce(
    url,
    "select tablename from pg_tables where schemaname = 'public' order by 1",
  );
  assert.deepEqual(
    tables.rows.map(({ tablename }) => tablename),
    TABLES,
  );
  const { rows } = await queryOnce(url, 'select version from petstore_schema');
  assert.equal(rows.length, 1);
}
