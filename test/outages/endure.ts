/** Runs one outage under load, from its beginning until the service answers again. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ALL_REFUSED, type Expected, OPERATIONS, startLoad } from './load.ts';
import { assertAliveAndSecret, assertKept, follow, listAll, type Replicas } from './petstore.ts';

const BEFORE_MS = 300;
/** For so long, /readyz may tell the outcome of the check before: the next one begins after 1 s, and fails in 0.9 s. */
const CHECK_MS = 2_500;
/** Longer than the slowest answer, so that every client has an answer within it. */
const AWAY_MS = 3_000;

/** Causes the outage; resolves, once it has begun, to a function that ends it. */
export type Outage = () => Promise<() => Promise<unknown>>;

export interface OutageCase {
  readonly name: string;
  /** Clients of each operation, on each replica. */
  readonly clients?: number;
  readonly outage: Outage;
  /** How long it lasts; 0 for one that ends as soon as it has begun. */
  readonly awayMs?: number;
  /** What each replica does meanwhile; by default it refuses everything. */
  readonly expected?: Expected;
}

/** Sends requests to the replicas before, in and after the outage, and checks all answers. */
export async function endure(
  t: TestContext,
  replicas: Replicas,
  { name, clients = 1, outage, awayMs = AWAY_MS, expected = ALL_REFUSED }: OutageCase,
): Promise<void> {
  const load = startLoad(replicas, name, clients);
  let isDone = false;
  const following = Promise.all(
    replicas.services.map((service) => follow(service, replicas.key, 100, () => isDone)),
  );
  let end: (() => Promise<unknown>) | undefined;
  try {
    await sleep(BEFORE_MS);
    end = await outage();
    if (awayMs > 0) await sleep(CHECK_MS);
    const from = performance.now();
    await sleep(awayMs);
    const to = performance.now();
    await end();
    end = undefined;
    const returnMs = await load.waitForReturn(performance.now());
    await load.stop();
    await assertKept(replicas);
    isDone = true;
    const kept = await listAll(replicas.services[0], replicas.key);
    for (const seen of await following) {
      const missed = kept.filter(([id]) => !seen.has(id));
      assert.deepEqual(missed, [], 'a follower missed pets');
    }
    t.diagnostic(`${load.countRefusals(...OPERATIONS)} times 503, back after ${returnMs} ms`);
    assert.deepEqual(load.violations, []);
    for (const replica of awayMs > 0 ? replicas.services.keys() : []) {
      load.assertWithin([from, to], replica, expected);
    }
    assertAliveAndSecret(replicas);
  } finally {
    await end?.();
    await load.stop();
    isDone = true;
    await following;
  }
}
