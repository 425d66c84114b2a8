/** A primary that is killed during creates, and its synchronous standby that replaces it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryOnce } from '../support/postgres-cluster.ts';
import { endure } from './endure.ts';
import * as petstore from './petstore.ts';

for (const count of [2, 9]) {
  test(`failover › a standby becomes the primary of ${count} replicas › they find it, and no create is lost or missed`, async (t) => {
    await using primary = await petstore.startDatabase();
    await using standby = await primary.startStandby({ durable: true });
    await queryOnce(primary.url(), "alter system set synchronous_standby_names = '*'");
    await queryOnce(primary.url(), 'select pg_reload_conf()');
    const hosts = [primary, standby].map(petstore.toHost);
    // Every second replica has the standby first in its address, and must skip it.
    const addresses = [hosts, hosts.toReversed()].map((each) =>
      petstore.toAddress(each, 'read-write'),
    );
    await using replicas = await petstore.startReplicas(
      Array.from({ length: count }, (_, index) => addresses[index % 2] ?? ''),
    );
    const { rows } = await queryOnce(primary.url(), 'select sync_state from pg_stat_replication');
    assert.deepEqual(rows, [{ sync_state: 'sync' }]);
    const outage = async () => {
      await primary.stop('SIGKILL');
      return () => standby.promote();
    };
    await endure(t, replicas, { name: 'failover', outage, clients: count === 2 ? 3 : 1 });
  });
}
