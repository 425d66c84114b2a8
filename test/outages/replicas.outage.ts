/** Several replicas: as many as PostgreSQL's defaults have connections for, under more creates than one of them would get. Clients that keep the cursor of a list and read on later, while commits take time. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPgbouncer } from '../support/pgbouncer.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import { send } from '../support/request.ts';
import { until } from '../support/until.ts';
import * as petstore from './petstore.ts';

const REPLICAS = 9;
const CLIENTS = 200;
const SECONDS = Number(process.env.TEST_REPLICAS_SECONDS ?? 5);

/** What a 503 at one of the bounds of docs/limits.md says. */
const AT_A_BOUND =
  /^the database (?:did not answer in time|commits too slowly|cannot be reached or does not answer in time)/;

test(`replicas › ${REPLICAS} that start at once, ${CLIENTS} clients create with idempotency keys › make one key in silence, each create has one pet, and 503 comes at a bound alone`, async (t) => {
  await using cluster = await petstore.startDatabase();
  const address = petstore.toAddress([petstore.toHost(cluster)]);
  await using replicas = await petstore.startReplicas(Array(REPLICAS).fill(address));
  const { services, key } = replicas;
  assert.equal(services.filter((service) => service.key !== '').length, 1);
  for (const { output } of services) assert.doesNotMatch(output.stderr, /"level":"(?!info)/);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const created = new Map<string, number>();
  let refused = 0;
  const deadline = performance.now() + SECONDS * 1_000;

  /** Sends it until it is answered by 201, to another replica each time, as late as a refusal says or a bit later. */
  async function create(name: string, replica: number): Promise<void> {
    const answer = await send(services[replica % REPLICAS]?.port ?? 0, {
      method: 'POST',
      path: '/v1/pets',
      headers: { ...headers, 'idempotency-key': name },
      body: JSON.stringify({ name, categoryId: 1 }),
    });
    const { id } = JSON.parse(answer.body);
    if (answer.status === 503) {
      refused += 1;
      await sleep(Number(answer.headers['retry-after']) * 1_000 * (1 + Math.random()));
      return create(name, replica + 1);
    }
    assert.equal(answer.status, 201, answer.body);
    created.set(name, id);
  }

  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    while (performance.now() < deadline) await create(randomUUID(), client);
  });
  await Promise.all(clients);

  t.diagnostic(`${created.size} creates in ${SECONDS} s, ${refused} times 503`);
  // Why the logs say that requests were answered by 503.
  const reasons = services
    .flatMap(({ output }) => output.stderr.split('\n'))
    .filter((line) => line.includes('"status":503'))
    .map((line) => JSON.parse(line).reason);
  assert.deepEqual(
    reasons.filter((reason) => !AT_A_BOUND.test(reason)),
    [],
  );
  const kept = await queryOnce(
    cluster.url('petstore'),
    `select pet.name, cast(pet.id as integer), key.name as key from pets as pet
      left join idempotency_keys as key on key.pet_id = pet.id where pet.id > 1`,
  );
  assert.ok(created.size > 0);
  assert.equal(kept.rows.length, created.size);
  for (const { name, id, key } of kept.rows) assert.deepEqual([created.get(name), key], [id, name]);
  petstore.assertAliveAndSecret(replicas);
});

/** A commit takes long when it has a pet named `late`. */
const SLOW_COMMITS = `create function commit_slowly() returns trigger language plpgsql as $$
    begin
      if new.name = 'late' then perform pg_sleep(0.5); end if;
      return null;
    end
  $$;
  create constraint trigger slow after insert on pets deferrable initially deferred
    for each row execute function commit_slowly()`;

for (const isPooled of [false, true]) {
  test(`followers › smaller ids become visible after greater ones, ${isPooled ? 'behind' : 'without'} PgBouncer › no follower misses a pet`, async () => {
    await using cluster = await petstore.startDatabase();
    await using pgbouncer = await startPgbouncer(cluster.url(), { default_pool_size: '20' });
    const address = isPooled
      ? `${pgbouncer.url}petstore?pgbouncer=true`
      : petstore.toAddress([petstore.toHost(cluster)]);
    await using replicas = await petstore.startReplicas(Array(petstore.REPLICAS).fill(address));
    const { services, key } = replicas;
    const [one, two = one] = services;
    await queryOnce(cluster.url('petstore'), SLOW_COMMITS);

    let isDone = false;
    const followers = services.flatMap((service) =>
      [1, 2, 100].map((limit) => petstore.follow(service, key, limit, () => isDone)),
    );
    const ids: number[] = [1];
    for (let round = 0; round < 3; round += 1) {
      const late = petstore.create(one, key, 'late');
      const sleeping = "select from pg_stat_activity where wait_event = 'PgSleep'";
      await until(async () => (await queryOnce(cluster.url(), sleeping)).rowCount === 1);
      // All go to another replica, and are answered before the late one.
      const early = await Promise.all(
        ['a', 'b', 'c'].map((name) => petstore.create(two, key, `${name} ${round}`)),
      );
      ids.push(await late, ...early);
    }
    isDone = true;
    const expected = ids.toSorted((a, b) => a - b);
    for (const seen of await Promise.all(followers)) {
      assert.deepEqual(
        [...seen].sort((a, b) => a - b),
        expected,
      );
    }
  });
}
