/** Runs one outage under load, from its beginning until the service answers again. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startImports } from './imports.ts';
import {
  ALL_REFUSED,
  ANSWER_MS_MAX,
  type Expected,
  type LoadOptions,
  OPERATIONS,
  startLoad,
} from './load.ts';
import { assertAliveAndSecret, assertKept, follow, listAll, type Replicas } from './petstore.ts';

const BEFORE_MS = 300;
/** For so long, /readyz may tell the outcome of the check before: the next one begins after 1 s, and fails in 0.9 s. */
const CHECK_MS = 2_500;
/** Longer than the slowest answer, so that every client has an answer within it. */
const AWAY_MS = ANSWER_MS_MAX + 1_000;

/** Causes the outage; resolves, once it has begun, to a function that ends it. */
export type Outage = () => Promise<() => Promise<unknown>>;

export interface OutageCase extends LoadOptions {
  readonly name: string;
  readonly outage: Outage;
  /** The address of the database, if pets are imported and corrected meanwhile. */
  readonly importsTo?: string;
  /** How long it lasts; 0 for one that ends as soon as it has begun. */
  readonly awayMs?: number;
  /** How long after its beginning the replicas need not do yet what is expected. */
  readonly checkMs?: number;
  /** What each replica does meanwhile; by default it refuses everything. */
  readonly expected?: Expected;
}

/** Sends requests to the replicas before, in and after the outage, and checks all answers. */
export async function endure(
  t: Pick<TestContext, 'diagnostic'>,
  replicas: Replicas,
  {
    name,
    outage,
    importsTo,
    awayMs = AWAY_MS,
    checkMs = CHECK_MS,
    expected = ALL_REFUSED,
    ...options
  }: OutageCase,
): Promise<void> {
  const imports = importsTo ? await startImports(importsTo, replicas, name) : undefined;
  const load = startLoad(replicas, name, options);
  let isDone = false;
  const following = Promise.all(
    replicas.services.map((service) => follow(service, replicas.key, 100, () => isDone)),
  );
  let end: (() => Promise<unknown>) | undefined;
  try {
    await sleep(BEFORE_MS);
    end = await outage();
    if (awayMs > 0) await sleep(checkMs);
    const from = performance.now();
    await sleep(awayMs);
    const to = performance.now();
    const outageEnd = end();
    // It is not tried again when it fails.
    end = undefined;
    await outageEnd;
    const returnMs = await load.waitForReturn(performance.now());
    await Promise.all([load.stop(), imports?.stop()]);
    await assertKept(replicas);
    isDone = true;
    const kept = await listAll(replicas.services[0], replicas.key);
    for (const seen of await following) {
      const missed = kept.filter(([id]) => !seen.has(id));
      assert.deepEqual(missed, [], 'a follower missed pets');
    }
    const told = imports?.assertWhole(new Set(kept.map(([, name]) => name))) ?? '';
    const refusals = load.countRefusals(...OPERATIONS);
    t.diagnostic(`${refusals} times 503, back after ${returnMs} ms${told}`);
    assert.deepEqual([...load.violations, ...(imports?.violations ?? [])], []);
    for (const replica of awayMs > 0 ? replicas.services.keys() : []) {
      load.assertWithin([from, to], replica, expected);
    }
    assertAliveAndSecret(replicas);
  } finally {
    await end?.();
    await Promise.all([load.stop(), imports?.stop()]);
    isDone = true;
    await following;
  }
}
