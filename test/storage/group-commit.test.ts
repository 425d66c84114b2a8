/** Which writes share a commit, how many commits are under way, and the outcome of each write. */

import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PetstoreError } from '../../src/error.ts';
import { createGroupCommit } from '../../src/storage/group-commit.ts';
import { createStoreCounts } from '../../src/store.ts';
import { until } from '../support/until.ts';

/** How long this process works, or does nothing, during a commit. */
const WORK_MS = 5;
const IDLE_MS = 500;
/** A pause is much shorter; the rest is for a machine that is busy. */
const PAUSE_MS_MAX = 5_000;

interface Commit {
  end(): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** Writes of numbers, whose result is the double; each commit is under way until it is ended. */
function create(groupsMax?: number) {
  const commits: Commit[] = [];
  const counts = createStoreCounts();
  const commit = (writes: readonly number[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
    const end = () => {
      resolve(writes.map((one) => 2 * one));
      return nextTurn();
    };
    const fail = (error: Error) => {
      reject(error);
      return nextTurn();
    };
    commits.push({ end, fail });
    return promise;
  };
  const writes = createGroupCommit<number, number>(commit, counts, groupsMax);
  return { write: (number: number) => writes.add(number), commits, counts };
}

/** Keeps the event loop busy. */
function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

/** From now on, time passes only by `tick`. */
function stopClock(t: TestContext): void {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.timers.reset();
    syncBuiltinESMExports();
  });
}

for (const [what, reads, use, pauseMs] of [
  ['a long commit beside reads and a busy event loop', 1, () => work(10 * WORK_MS), 50],
  ['reads beside a commit', 1, () => sleep(IDLE_MS), 0],
  ['a busy event loop beside a commit', 0, () => work(WORK_MS), 0],
] as const) {
  test(`createGroupCommit › ${what} › the next one begins after ${pauseMs} ms`, async (t) => {
    const { write, commits, counts } = create();
    const writing = [write(1)];
    await nextTurn();
    writing.push(write(2));
    await use();
    stopClock(t);
    counts.reads += reads;
    await commits[0]?.end();
    for (const [ms, count] of [
      [Math.max(0, pauseMs - 1), pauseMs > 0 ? 1 : 2],
      [1, 2],
    ] as const) {
      t.mock.timers.tick(ms);
      await nextTurn();
      assert.equal(commits.length, count);
    }
    await commits[1]?.end();
    assert.deepEqual(await Promise.all(writing), [2, 4]);
  });
}

test('createGroupCommit › creates that start in one turn after the other › share a commit', async () => {
  const { write, commits, counts } = create(2);
  const writing: Promise<number>[] = [];
  const add = (number: number) => {
    // As the fair queue: it asks for the next turn first.
    if (number < 3) setImmediate(() => add(number + 1));
    writing.push(write(number));
  };
  add(1);
  await until(() => commits.length === 1);
  assert.equal(writing.length, 3);
  await commits[0]?.end();
  assert.deepEqual(await Promise.all(writing), [2, 4, 6]);
  assert.equal(counts.commits, 1);
});

test('createGroupCommit › two groups under way › the writes of later turns share the commit after the first that ends', async () => {
  const { write, commits, counts } = create(2);
  const startedAt = performance.now();
  const writing: Promise<number>[] = [];
  for (const number of [1, 2, 3, 4]) {
    writing.push(write(number));
    await nextTurn();
  }
  assert.equal(commits.length, 2);
  await commits[1]?.end();
  await commits[2]?.end();
  assert.deepEqual(await Promise.all(writing.slice(1)), [4, 6, 8]);
  await commits[0]?.end();
  assert.equal(await writing[0], 2);
  assert.equal(counts.commits, 3);
  assert.equal(counts.committedWrites, 4);
  assert.ok(counts.commitSeconds > 0);
  // Two were under way at once.
  assert.ok(counts.commitSeconds < (2 * (performance.now() - startedAt)) / 1_000);
});

test('createGroupCommit › reads in a busy process › one group is under way', async () => {
  const { write, commits, counts } = create(2);
  const first = write(1);
  await nextTurn();
  work(WORK_MS);
  counts.reads += 1;
  await commits[0]?.end();
  const writing = [first, write(2)];
  await until(() => commits.length === 2, PAUSE_MS_MAX);
  writing.push(write(3));
  await nextTurn();
  assert.equal(commits.length, 2);
  await commits[1]?.end();
  await until(() => commits.length === 3, PAUSE_MS_MAX);
  work(WORK_MS);
  counts.reads += 1;
  await commits[2]?.end();
  assert.deepEqual(await Promise.all(writing), [2, 4, 6]);
  // After the last pause, which takes at most 50 ms, the place of the group is free.
  await sleep(100);
  const next = write(4);
  await until(() => commits.length === 4, PAUSE_MS_MAX);
  await commits[3]?.end();
  assert.equal(await next, 8);
});

test('createGroupCommit › thousands of groups that have ended › take no memory', async () => {
  const GROUPS = 4_000;
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const writes = createGroupCommit(async (group: readonly number[]) => group, createStoreCounts());
  const growths = [];
  for (let round = 0; round < 5; round += 1) {
    const before = process.memoryUsage().heapUsed;
    for (let count = 0; count < GROUPS; count += 1) {
      await writes.add(count);
      await nextTurn();
    }
    collectGarbage();
    growths.push(process.memoryUsage().heapUsed - before);
  }
  // What is kept of each group grows in each round; compiled code and caches grow in some of them.
  assert.ok(Math.min(...growths) < GROUPS * 16, `${growths.join(', ')} bytes`);
});

test('createGroupCommit › a commit that fails › fails the writes that wait, and the next one is tried', async () => {
  const { write, commits } = create();
  const seen = [write(1)];
  await nextTurn();
  seen.push(write(2));
  const settled = Promise.all(seen.map((one) => one.catch(({ message }) => message)));
  await commits[0]?.fail(new PetstoreError('unavailable', 'away'));
  assert.deepEqual(await settled, ['away', 'away']);
  const next = write(3);
  await nextTurn();
  await commits[1]?.end();
  assert.equal(await next, 6);
});

test('createGroupCommit › a write of three that the database refuses › fails alone, unless the database goes away', async () => {
  for (const [last, outcome] of [
    ['end', 6],
    ['fail', 'away'],
  ] as const) {
    const { write, commits } = create();
    const seen = [1, 2, 3].map((number) => write(number).catch(({ message }) => message));
    await until(() => commits.length === 1);
    await commits[0]?.fail(new Error('not null'));
    await commits[1]?.end();
    await commits[2]?.fail(new Error('not null'));
    await commits[3]?.[last](new PetstoreError('unavailable', 'away'));
    assert.deepEqual(await Promise.all(seen), [2, 'not null', outcome]);
  }
});
