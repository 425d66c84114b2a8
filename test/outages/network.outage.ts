/** Packets that are lost between the service and its database, under load and without; needs root. */

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../support/postgres-cluster.ts';
import { readStart, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { endure } from './endure.ts';
import { RETURN_MS_MAX, startLoad } from './load.ts';
import { createNetwork, type Network } from './network.ts';
import * as petstore from './petstore.ts';

let network: Network;
let cluster: Cluster;
let replicas: petstore.Replicas & AsyncDisposable;

before(async () => {
  network = createNetwork();
  const { databaseHost, listenHost, within } = network;
  cluster = await petstore.startDatabase({ listen_addresses: `127.0.0.1,${databaseHost}` });
  const address = petstore.toAddress([`${databaseHost}:${cluster.port}`]);
  replicas = await petstore.startReplicas([address], ['--host', listenHost], { within });
});

after(async () => {
  await replicas?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
  network?.[Symbol.dispose]();
});

for (const [what, expected, begin, end = () => undefined] of [
  ['all packets are lost for a while', 'are 503 in time', () => network.cut('all')],
  ['the answers are lost', 'add no pet twice', () => network.cut('answers')],
  ['the connections stay dead', 'get others', () => network.cut('all'), () => network.move()],
  ['the service has no network', 'are 503 in time', () => network.unplug(), () => network.plug()],
] as const) {
  test(`network › ${what} › requests ${expected}, and it is over soon`, (t) =>
    endure(t, replicas, {
      name: what,
      async outage() {
        begin();
        return async () => {
          end();
          network.mend();
        };
      },
    }));
}

test('network › DNS or the database does not answer › a start says which of them', async () => {
  for (const [host, line] of [
    [
      'db.test',
      'the database cannot be reached: DNS does not tell the address of its host; trying',
    ],
    [network.databaseHost, 'the database cannot be reached or does not answer in time; trying'],
  ] as const) {
    network.cut('all');
    const args = ['serve', '--port', '0', '--database', `postgres://petstore@${host}/petstore`];
    await using service = startProgram(args, { cwd: tmpdir(), within: network.within });
    await until(() => readStart(service).includes(line)).finally(() => network.mend());
  }
});

test('network › the connections die while nobody asks › a lone client is answered in time', async (t) => {
  // So that the pool is full.
  const load = startLoad(replicas, 'before the silence', { clients: 4 });
  await sleep(1_000);
  await load.stop();
  network.move();
  const { key, services } = replicas;
  const movedAt = performance.now();
  const headers = { authorization: `Bearer ${key}` };
  let refusals = 0;
  while ((await fetch(`${services[0].url}/v1/pets`, { headers })).status !== 200) refusals += 1;
  const returnMs = performance.now() - movedAt;
  t.diagnostic(`${refusals} refusals, back after ${Math.round(returnMs)} ms`);
  assert.ok(returnMs < RETURN_MS_MAX, `${refusals} refusals, back after ${returnMs} ms`);
});

test('network › the service is told to stop while all packets are lost › it ends in order', async (t) => {
  const load = startLoad(replicas, 'before the stop', { clients: 4 });
  await sleep(1_000);
  await load.stop();
  network.cut('all');
  const toldAt = performance.now();
  const { process, finished } = replicas.services[0];
  process.kill('SIGTERM');
  const { status } = await finished;
  const endMs = performance.now() - toldAt;
  network.mend();
  t.diagnostic(`ended after ${Math.round(endMs)} ms`);
  assert.equal(status, 0);
  assert.ok(endMs < RETURN_MS_MAX, `ended after ${endMs} ms`);
});
