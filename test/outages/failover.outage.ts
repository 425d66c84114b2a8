/** A primary that is killed or demoted during creates, and its synchronous standby that replaces it. No address names the primary. */

import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryOnce } from '../support/postgres-cluster.ts';
import { startProxy } from '../support/proxy.ts';
import { endure } from './endure.ts';
import * as petstore from './petstore.ts';

/** So long after the switch, the name still leads to the old primary, which is a standby. */
const STALE_NAME_MS = 3_000;

/** A primary, and a standby that each commit waits for. */
async function startPair() {
  await using stack = new AsyncDisposableStack();
  const primary = stack.use(await petstore.startDatabase());
  const standby = stack.use(await primary.startStandby({ durable: true }));
  await queryOnce(primary.url(), "alter system set synchronous_standby_names = '*'");
  await queryOnce(primary.url(), 'select pg_reload_conf()');
  const opened = stack.move();
  return { primary, standby, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

for (const count of [petstore.REPLICAS, 9]) {
  test(`failover › a standby becomes the primary of ${count} replicas › they find it, and no create is lost or missed`, async (t) => {
    await using pair = await startPair();
    const { primary, standby } = pair;
    const hosts = [primary, standby].map(petstore.toHost);
    // Every second replica has the standby first in its address, and must skip it.
    const addresses = [hosts, hosts.toReversed()].map(petstore.toAddress);
    await using replicas = await petstore.startReplicas(
      Array.from({ length: count }, (_, index) => addresses[index % 2] ?? ''),
    );
    const { rows } = await queryOnce(primary.url(), 'select sync_state from pg_stat_replication');
    assert.deepEqual(rows, [{ sync_state: 'sync' }]);
    const outage = async () => {
      await primary.stop('SIGKILL');
      return () => standby.promote();
    };
    const importsTo = addresses[0] ?? '';
    await endure(t, replicas, {
      name: 'failover',
      outage,
      importsTo,
      clients: count === 9 ? 1 : 3,
    });
  });
}

test('failover › the old primary returns as a standby, and their one name still leads to it › is used by no replica', async (t) => {
  await using pair = await startPair();
  const { primary, standby } = pair;
  await using name = await startProxy(petstore.toAddress([petstore.toHost(primary)]));
  const { address } = name;
  await using replicas = await petstore.startReplicas(Array(petstore.REPLICAS).fill(address));
  const outage = async () => {
    await primary.stop();
    await standby.promote();
    const data = join(primary.folder, 'data');
    writeFileSync(join(data, 'standby.signal'), '');
    appendFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${standby.url()}'\n`);
    await primary.start();
    await sleep(STALE_NAME_MS);
    return async () => name.leadTo(standby.port);
  };
  await endure(t, replicas, { name: 'switchover', outage, importsTo: address });
});
