/** Packets that are lost between the service and its database, under load and without. Imports whose process stops, or whose network is lost, in their last step. Needs root. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryOnce } from '../support/postgres-cluster.ts';
import { readStart, runProgram, startProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';
import { endure } from './endure.ts';
import { RETURN_MS_MAX, startLoad } from './load.ts';
import { createNetwork } from './network.ts';
import * as petstore from './petstore.ts';

/** The server ends a silent transaction after 10 s. */
const ENDED_MS_MAX = 13_000;
const ENDED = /^petstore: the database (?:ended|cannot) .+; nothing was imported\n$/;

/** The insert of a pet named `late` takes a second, and so does its commit. */
const SLOW = `create function wait() returns trigger language plpgsql as $$
    begin
      if new.name = 'late' then perform pg_sleep(1); end if;
      return new;
    end $$;
  create trigger slow before insert on pets for each row execute function wait();
  create constraint trigger late after insert on pets deferrable initially deferred
    for each row execute function wait()`;

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const network = stack.use(createNetwork());
const { databaseHost, listenHost } = network;
const cluster = stack.use(
  await petstore.startDatabase({ listen_addresses: `127.0.0.1,${databaseHost}` }),
);
const address = petstore.toAddress([`${databaseHost}:${cluster.port}`]);
const inNetwork = {
  cwd: createProcessFolder(),
  env: { PETSTORE_DATABASE: address },
  within: network.within,
};
const replicas = stack.use(
  await petstore.startReplicas([address], ['--host', listenHost], inNetwork),
);
const { key } = replicas;
/** Reaches the database also while the network is cut. */
const outside = stack.use(
  await petstore.startReplica(petstore.toAddress([petstore.toHost(cluster)])),
);
await queryOnce(cluster.url('petstore'), SLOW);

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
    [databaseHost, 'the database cannot be reached or does not answer in time; trying'],
  ] as const) {
    network.cut('all');
    const args = ['serve', '--port', '0', '--database', `postgres://petstore@${host}/petstore`];
    await using service = startProgram(args, inNetwork);
    await until(() => readStart(service).includes(line)).finally(() => network.mend());
  }
});

test('network › the connections die while nobody asks › a lone client is answered in time', async (t) => {
  // So that the pool is full.
  const load = startLoad(replicas, 'before the silence', { clients: 4 });
  await sleep(1_000);
  await load.stop();
  network.move();
  const { services } = replicas;
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

const write = (name: string, text: string) => writeFileSync(join(inNetwork.cwd, name), text);

/** Starts an import, and waits until its server sleeps in such a statement. */
async function startImport(args: string, statement: string) {
  const program = startProgram(`pets import ${args}`.split(' '), inNetwork);
  const sleeping = `select from pg_stat_activity where wait_event = 'PgSleep' and query ~* '^${statement}'`;
  await until(async () => (await queryOnce(cluster.url(), sleeping)).rowCount === 1);
  return program;
}

test('an import › whose commit gets no answer › is told as not known, and its undo is right', async () => {
  write('new.csv', `name,categoryId\n${'Rex,1\n'.repeat(99)}late,1\n`);
  const before = await petstore.listAll(outside, key);
  await using program = await startImport('new.csv', 'commit');
  network.cut('answers');
  const id = await petstore.create(outside, key, 'beside');
  await until(async () => (await petstore.listAll(outside, key)).length > before.length + 100);
  program.process.kill('SIGINT');
  const { signal, stderr } = await within(program.finished);
  network.mend();
  assert.equal(signal, 'SIGINT');
  const [, list = '', remove = ''] =
    /, in the same store, (pets list \S+ \d+) shows .+, and (pets remove \S+) removes them\n$/.exec(
      stderr,
    ) ?? [];
  assert.match((await runProgram(list.split(' '), inNetwork)).stdout, /Rex/);
  const removed = await runProgram(remove.split(' '), inNetwork);
  assert.match(removed.stderr, /^100 pets are removed/);
  assert.deepEqual(await petstore.listAll(outside, key), [...before, [id, 'beside']]);
});

for (const [id, what] of [
  [1_000_000, 'process is stopped'],
  [2_000_000, 'host is lost'],
] as const) {
  test(`an import › whose ${what} while it holds its locks › is ended, and creates go on`, async (t) => {
    const create = async () =>
      (await petstore.post(outside, key, '{"name":"beside","categoryId":1}')).status;
    write('ids.csv', `id,name,categoryId\n${id},late,1\n`);
    await using program = await startImport('ids.csv --by-id', 'insert');
    const stoppedAt = performance.now();
    if (id === 1_000_000) program.process.kill('SIGSTOP');
    else network.cut('all');
    assert.equal(await create(), 503);
    await until(async () => (await create()) === 201);
    const endedMs = performance.now() - stoppedAt;
    t.diagnostic(`creates go on after ${Math.round(endedMs)} ms`);
    assert.ok(endedMs < ENDED_MS_MAX, `${endedMs} ms`);
    network.mend();
    program.process.kill('SIGCONT');
    const { status, stderr } = await within(program.finished);
    assert.equal(status, 1);
    assert.match(stderr, ENDED);
    assert.equal((await petstore.get(outside, key, `/v1/pets/${id}`)).status, 404);
  });
}
