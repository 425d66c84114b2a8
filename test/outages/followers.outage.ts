/** Clients that keep the cursor of a list and read on later, while commits of several replicas take time. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPgbouncer } from '../support/pgbouncer.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import { until } from '../support/until.ts';
import * as petstore from './petstore.ts';

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
