/** A primary that is killed during creates, and its synchronous standby that replaces it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryOnce } from '../support/postgres-cluster.ts';
import { startLoad } from './load.ts';
import * as petstore from './petstore.ts';

const DEAD_MS = 1_000;

test('failover › a standby becomes the primary › replicas find it and no create is lost', async (t) => {
  await using primary = await petstore.startDatabase();
  await using standby = await primary.startStandby({ durable: true });
  await queryOnce(primary.url(), "alter system set synchronous_standby_names = '*'");
  await queryOnce(primary.url(), 'select pg_reload_conf()');
  const hosts = [primary, standby].map(petstore.toHost);
  // One replica has the standby first in its address, and must skip it.
  await using replicas = await petstore.startReplicas([
    petstore.toAddress(hosts, 'read-write'),
    petstore.toAddress(hosts.toReversed(), 'read-write'),
  ]);
  const { rows } = await queryOnce(primary.url(), 'select sync_state from pg_stat_replication');
  assert.deepEqual(rows, [{ sync_state: 'sync' }]);

  const load = startLoad(replicas, { prefix: 'failover', clients: 3 });
  try {
    await sleep(DEAD_MS);
    await primary.stop('SIGKILL');
    await sleep(DEAD_MS);
    const promotedAt = performance.now();
    await standby.promote();
    const returnMs = await load.waitForReturn(promotedAt);
    await load.stop();
    const unanswered = await petstore.assertKept(replicas);
    t.diagnostic(
      `${replicas.created.size} creates acknowledged and kept, ${unanswered} kept without a 201, slowest answer ${load.slowestMs} ms, back ${returnMs} ms after the order to promote`,
    );
    assert.deepEqual(load.violations, []);
    petstore.assertAliveAndSecret(replicas);
  } finally {
    await load.stop();
  }
});
