/** The order in which pets become visible through two replicas while commits take time. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryOnce } from '../support/postgres-cluster.ts';
import { until } from '../support/until.ts';
import * as petstore from './petstore.ts';

/** A commit takes long when it has a pet named `late`. */
const SLOW_COMMITS = `
  create function commit_slowly() returns trigger language plpgsql as $$
    begin
      if new.name = 'late' then perform pg_sleep(0.3); end if;
      return null;
    end
  $$;
  create constraint trigger slow after insert on pets deferrable initially deferred
    for each row execute function commit_slowly()`;

test('order › a commit is late and another replica is faster › the smaller id is seen first', async () => {
  await using cluster = await petstore.startDatabase();
  const address = petstore.toAddress([petstore.toHost(cluster)]);
  await using replicas = await petstore.startReplicas([address, address]);
  const { services, key } = replicas;
  const [one, two = one] = services;
  await queryOnce(cluster.url('petstore'), SLOW_COMMITS);

  /** Follows the list from its beginning, up to the last pet; resolves to the ids in the order seen. */
  async function follow(service: typeof one, limit: number): Promise<number[]> {
    const ids = new Set<number>();
    let path = `/v1/pets?limit=${limit}`;
    for (let isSeen = false; !isSeen; ) {
      const { pets, next = path } = await petstore.readPage(service, key, path);
      for (const { id } of pets) ids.add(id);
      isSeen = pets.some(({ name }) => name === 'last');
      path = next;
    }
    return [...ids];
  }

  const reading = services.flatMap((service) => [1, 2, 100].map((limit) => follow(service, limit)));
  const late = petstore.create(one, key, 'late');
  const sleeping = "select from pg_stat_activity where wait_event = 'PgSleep'";
  await until(async () => (await queryOnce(cluster.url(), sleeping)).rowCount === 1);
  const early = petstore.create(two, key, 'early');
  const ids = [1, await late, await early, await petstore.create(one, key, 'last')];
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  );
  for (const seen of await Promise.all(reading)) assert.deepEqual(seen, ids);
});
