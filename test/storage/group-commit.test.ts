/** Which writes share a commit, how many commits are under way, and the outcome of each write. */

import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PetstoreError } from '../../src/error.ts';
import { createGroupCommit } from '../../src/storage/group-commit.ts';
import { createStoreCounts } from '../../src/store.ts';
import { until } from '../support/until.ts';

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
  return { write: (number: number) => writes.add(number), drain: writes.drain, commits, counts };
}

/** From now on, time passes when it is told to, and the event loop is as busy as `loop` says. */
function stopClock(t: TestContext) {
  let now = 0;
  const loop = { idle: 0, active: 0, utilization: 1 };
  t.mock.method(performance, 'now', () => now);
  t.mock.method(performance, 'eventLoopUtilization', () => loop);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.timers.reset();
    syncBuiltinESMExports();
  });
  const pass = (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
    return nextTurn();
  };
  return { loop, pass };
}

for (const [what, ms, reads, utilization, pauseMs] of [
  ['a commit of 5 ms beside reads in a busy process', 5, 1, 0.6, 30],
  ['a long commit beside reads in a busy process', 100, 1, 0.6, 50],
  ['a commit beside reads in an idle process', 100, 1, 0.4, 0],
  ['a commit without reads in a busy process', 100, 0, 0.6, 0],
] as const) {
  test(`createGroupCommit › ${what} › the next one begins after ${pauseMs} ms`, async (t) => {
    const { loop, pass } = stopClock(t);
    const { write, commits, counts } = create();
    const writing = [write(1)];
    await nextTurn();
    writing.push(write(2));
    await pass(ms);
    loop.utilization = utilization;
    counts.reads += reads;
    await commits[0]?.end();
    const begun: number[] = [];
    for (const passed of [0, Math.max(0, pauseMs - 1), 1]) {
      await pass(passed);
      begun.push(commits.length);
    }
    assert.deepEqual(begun, pauseMs > 0 ? [1, 1, 2] : [2, 2, 2]);
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
  const { write, drain, commits, counts } = create(2);
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
  let isDrained = false;
  const draining = drain().then(() => {
    isDrained = true;
  });
  await nextTurn();
  assert.equal(isDrained, false, 'the first group is still under way');
  await commits[0]?.end();
  await draining;
  assert.equal(await writing[0], 2);
  assert.equal(counts.commits, 3);
  assert.equal(counts.committedWrites, 4);
  assert.ok(counts.commitSeconds > 0);
  // Two were under way at once.
  assert.ok(counts.commitSeconds < (2 * (performance.now() - startedAt)) / 1_000);
});

test('createGroupCommit › reads in a busy process › one group of two is under way, up to the end of its last pause', async (t) => {
  const { pass } = stopClock(t);
  const { write, commits, counts } = create(2);
  const writing: Promise<number>[] = [];
  const add = (number: number) => {
    writing.push(write(number));
    return nextTurn();
  };
  /** Ends the last commit, which took 5 ms beside a read. So the pause is 30 ms. */
  const end = async () => {
    await pass(5);
    counts.reads += 1;
    await commits.at(-1)?.end();
  };
  await add(1);
  await end();
  await add(2);
  assert.equal(commits.length, 1);
  await pass(30);
  await add(3);
  assert.equal(commits.length, 2);
  await end();
  await pass(30);
  assert.equal(commits.length, 3);
  await end();
  await pass(30);
  await add(4);
  assert.equal(commits.length, 4);
  await end();
  assert.deepEqual(await Promise.all(writing), [2, 4, 6, 8]);
});

test('createGroupCommit › thousands of groups that have ended › take no memory', async () => {
  const GROUPS = 2_000;
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const writes = createGroupCommit(async (group: readonly number[]) => group, createStoreCounts());
  const growths = [];
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let count = 0; count < GROUPS; count += 1) {
      await writes.add(count);
      await nextTurn();
    }
    collectGarbage();
    growths.push(process.memoryUsage().heapUsed - before);
  }
  // What is kept of each group grows in each round; compiled code and caches grow in some of them.
  assert.ok(Math.min(...growths) < GROUPS * 64, `${growths.join(', ')} bytes`);
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

test('createGroupCommit › a write of three that the database refuses › fails alone, unless the database goes away, and is not counted', async () => {
  for (const [last, outcome, written] of [
    ['end', 6, 2],
    ['fail', 'away', 1],
  ] as const) {
    const { write, commits, counts } = create();
    const seen = [1, 2, 3].map((number) => write(number).catch(({ message }) => message));
    await until(() => commits.length === 1);
    await commits[0]?.fail(new Error('not null'));
    await commits[1]?.end();
    await commits[2]?.fail(new Error('not null'));
    await commits[3]?.[last](new PetstoreError('unavailable', 'away'));
    assert.deepEqual(await Promise.all(seen), [2, 'not null', outcome]);
    assert.deepEqual([counts.commits, counts.committedWrites], [written, written]);
  }
});
