/** The simulation of the queue at the counter gives what can be computed, where it can be. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CounterQueue, simulate } from '../bench/counter-queue.ts';

const RUN = { seconds: 20, seed: 1 };
const COMMIT = { commitMs: 9, petMs: 1, petsMax: 500 };

/** The least that is more than nothing: nobody is back at the moment of the answer. */
const MOMENT_MS = 1e-6;

function assertNear(actual: number, expected: number, share = 0.01): void {
  assert.ok(Math.abs(actual / expected - 1) <= share, `${actual} is not near ${expected}`);
}

test('counter queue › one client that never pauses › gets a create in each commit', () => {
  const one = simulate({ ...COMMIT, replicas: 1, clients: 1, returnMs: 0 }, RUN);
  assertNear(one.perSecond, 1_000 / 10);
  assert.equal(one.petsOfCommit, 1);
  assertNear(one.waitMs.mean, 10);
});

for (const replicas of [2, 9]) {
  test(`counter queue › ${replicas} replicas of one client each › share the rate of one`, () => {
    const queue = { ...COMMIT, replicas, clients: replicas, returnMs: 0 };
    const { perSecond, waitMs } = simulate(queue, RUN);
    assertNear(perSecond, 1_000 / 10);
    assertNear(waitMs.p99, 10 * replicas);
  });
}

for (const [clients, replicas] of [
  [64, 1],
  [64, 8],
  [256, 4],
] as const) {
  test(`counter queue › ${clients} clients of ${replicas} replicas that are back in a moment › half of a replica's clients are in a commit`, () => {
    const queue = { ...COMMIT, replicas, clients, returnMs: MOMENT_MS };
    const { perSecond, petsOfCommit } = simulate(queue, RUN);
    const half = clients / replicas / 2;
    assertNear(petsOfCommit, half);
    assertNear(perSecond, (1_000 * half) / (9 + half));
  });
}

test('counter queue › more clients than a commit has pets › commits are full', () => {
  const queue = { ...COMMIT, replicas: 2, clients: 64, returnMs: 1, petsMax: 11 };
  const { perSecond, petsOfCommit, waitMs } = simulate(queue, RUN);
  assert.equal(petsOfCommit, 11);
  assertNear(perSecond, (1_000 * 11) / (9 + 11));
  // The oldest first: six commits of 20 ms are between two creates of a client.
  assertNear(waitMs.p99, 120, 0.02);
});

const OTHERS: readonly CounterQueue[] = [
  { replicas: 1, clients: 1, returnMs: 50, commitMs: 10, petMs: 0, petsMax: 500 },
  { replicas: 3, clients: 100, returnMs: 40, commitMs: 4, petMs: 0.1, petsMax: 20 },
  { replicas: 10, clients: 400, returnMs: 500, commitMs: 2, petMs: 0.01, petsMax: 500 },
];
for (const queue of OTHERS) {
  test(`counter queue › ${JSON.stringify(queue)} › each client has one create at a time (Little's law)`, () => {
    const { perSecond, waitMs } = simulate(queue, { ...RUN, seconds: 50 });
    assertNear(perSecond, (1_000 * queue.clients) / (queue.returnMs + waitMs.mean), 0.05);
  });
}

test('counter queue › the same seed › gives the same', () => {
  const [queue] = OTHERS.slice(1) as [CounterQueue];
  assert.deepEqual(simulate(queue, RUN), simulate(queue, RUN));
  assert.notDeepEqual(simulate(queue, RUN), simulate(queue, { ...RUN, seed: 2 }));
});
