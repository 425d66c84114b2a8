/** The order in which pets become visible through two replicas while commits take time. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, queryOnce } from '../support/postgres-cluster.ts';
import type { RunningService } from '../support/program.ts';
import * as petstore from './petstore.ts';

/** A commit takes long when it has a pet named `late`, and some time otherwise. */
const SLOW_COMMITS = `
  create function commit_slowly() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(case new.name when 'late' then 0.3 else random() * 0.01 end);
      return null;
    end
  $$;
  create constraint trigger slow after insert on pets deferrable initially deferred
    for each row execute function commit_slowly()`;

const CLIENTS = 8;
const CREATE_MS = 2_000;
const POLL_MS = 5;
const SEEN_MS_MAX = 5_000;

let cluster: Cluster;
let replicas: petstore.Replicas & AsyncDisposable;
let services: readonly RunningService[];

before(async () => {
  cluster = await petstore.startDatabase();
  const address = petstore.toAddress([petstore.toHost(cluster)]);
  replicas = await petstore.startReplicas([address, address]);
  services = replicas.services;
  await queryOnce(cluster.url('petstore'), SLOW_COMMITS);
});

after(async () => {
  await replicas?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
});

/** Follows the list from its beginning by its cursors; `waitFor` resolves to the ids in the order seen. */
function startReader(service: RunningService, limit: number) {
  const ids: number[] = [];
  let isStopped = false;
  let path = `/v1/pets?limit=${limit}`;
  const running = (async () => {
    const seen = new Set<number>();
    while (!isStopped) {
      const { pets, next } = await petstore.readPage(service, replicas.key, path);
      for (const { id } of pets.filter((pet) => !seen.has(pet.id))) {
        seen.add(id);
        ids.push(id);
      }
      if (next === undefined) await sleep(POLL_MS);
      path = next ?? path;
    }
  })();
  return {
    async waitFor(last: number): Promise<readonly number[]> {
      const deadline = performance.now() + SEEN_MS_MAX;
      while (!ids.includes(last) && performance.now() < deadline) await sleep(POLL_MS);
      isStopped = true;
      await running;
      return ids;
    },
  };
}

const create = (replica: number, name: string) =>
  petstore.create(services[replica % services.length] as RunningService, replicas.key, name);

async function waitForLateCommit(): Promise<void> {
  const sleeping = "select from pg_stat_activity where wait_event = 'PgSleep'";
  while ((await queryOnce(cluster.url(), sleeping)).rowCount === 0) await sleep(POLL_MS);
}

test('order › a commit is late and another replica is faster › the smaller id is seen first', async () => {
  const readers = services.flatMap((service) =>
    [1, 2, 100].map((limit) => startReader(service, limit)),
  );
  const late = create(0, 'late');
  await waitForLateCommit();
  const early = create(1, 'early');
  const ids = [1, await late, await early, await create(0, 'last')];
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  );
  const last = ids.at(-1) ?? 0;
  const seen = await Promise.all(readers.map((reader) => reader.waitFor(last)));
  assert.deepEqual(
    seen,
    readers.map(() => ids),
  );
});

test(`order › ${CLIENTS} clients create on two replicas › readers see each pet once and in order`, async (t) => {
  const readers = services.flatMap((service) =>
    [1, 3, 100].map((limit) => startReader(service, limit)),
  );
  const ids = (await petstore.listAll(replicas.services[0], replicas.key)).map(([id]) => id);
  const deadline = performance.now() + CREATE_MS;
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    while (performance.now() < deadline) ids.push(await create(client, `client ${client}`));
  });
  await Promise.all(clients);
  ids.sort((a, b) => a - b);
  const seen = await Promise.all(readers.map((reader) => reader.waitFor(ids.at(-1) ?? 0)));
  t.diagnostic(`${ids.length} pets`);
  assert.deepEqual(
    seen,
    readers.map(() => ids),
  );
});
