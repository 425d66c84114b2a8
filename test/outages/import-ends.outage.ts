/** Imports whose process stops, or whose network is lost, in their last step; needs root. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Cluster, queryOnce } from '../support/postgres-cluster.ts';
import { runProgram, startProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';
import { createNetwork, type Network } from './network.ts';
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

let network: Network;
let cluster: Cluster;
let replicas: petstore.Replicas & AsyncDisposable;
const cwd = createProcessFolder();

before(async () => {
  network = createNetwork();
  cluster = await petstore.startDatabase({ listen_addresses: `127.0.0.1,${network.databaseHost}` });
  replicas = await petstore.startReplicas([petstore.toAddress([petstore.toHost(cluster)])]);
  await queryOnce(cluster.url('petstore'), SLOW);
  writeFileSync(join(cwd, 'new.csv'), `name,categoryId\n${'Rex,1\n'.repeat(99)}late,1\n`);
});

after(async () => {
  await replicas?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
  network?.[Symbol.dispose]();
});

const toOptions = () => ({
  ...{ cwd, within: network.within },
  env: { PETSTORE_DATABASE: petstore.toAddress([`${network.databaseHost}:${cluster.port}`]) },
});

/** Starts an import, and waits until its server sleeps in such a statement. */
async function startImport(args: string, statement: string) {
  const program = startProgram(`pets import ${args}`.split(' '), toOptions());
  const sleeping = `select from pg_stat_activity where wait_event = 'PgSleep' and query ~* '^${statement}'`;
  await until(async () => (await queryOnce(cluster.url(), sleeping)).rowCount === 1);
  return program;
}

test('an import › whose commit gets no answer › is told as not known, and its undo is right', async () => {
  const { services, key } = replicas;
  await using program = await startImport('new.csv', 'commit');
  network.cut('answers');
  const id = await petstore.create(services[0], key, 'beside');
  await until(async () => (await petstore.listAll(services[0], key)).length > 100);
  program.process.kill('SIGINT');
  const { signal, stderr } = await within(program.finished);
  network.mend();
  assert.equal(signal, 'SIGINT');
  const [, list = '', remove = ''] =
    /: in the same store, (pets list \S+ \d+) shows .+, and (pets remove \S+) removes them\n$/.exec(
      stderr,
    ) ?? [];
  assert.match((await runProgram(list.split(' '), toOptions())).stdout, /Rex/);
  const removed = await runProgram(remove.split(' '), toOptions());
  assert.match(removed.stderr, /^100 pets are removed/);
  assert.deepEqual(
    (await petstore.listAll(services[0], key)).map(([id]) => id),
    [1, id],
  );
});

for (const [id, what] of [
  [10_000, 'process is stopped'],
  [20_000, 'host is lost'],
] as const) {
  test(`an import › whose ${what} while it holds its locks › is ended, and creates go on`, async (t) => {
    const { services, key } = replicas;
    const create = async () =>
      (await petstore.post(services[0], key, '{"name":"beside","categoryId":1}')).status;
    writeFileSync(join(cwd, 'ids.csv'), `id,name,categoryId\n${id},late,1\n`);
    await using program = await startImport('ids.csv --by-id', 'insert');
    const stoppedAt = performance.now();
    if (id === 10_000) program.process.kill('SIGSTOP');
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
    assert.equal((await petstore.get(services[0], key, `/v1/pets/${id}`)).status, 404);
  });
}
