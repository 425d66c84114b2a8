/** Which writes share a commit, the outcome of each, and how many may wait. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { PetstoreError } from '../../src/error.ts';
import { createStatistics } from '../../src/statistics.ts';
import { GroupCommit } from '../../src/storage/group-commit.ts';
import { until } from '../support/until.ts';

/** The bytes of the writes that may wait. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
/** How long a write may wait for its commit, in the test of it. */
const WAIT_MS_MAX = 900;
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
function create(bytes = 1, waitMsMax?: number) {
  const commits: Commit[] = [];
  const statistics = createStatistics();
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
  const writes = new GroupCommit<number, number>(commit, statistics, waitMsMax);
  return { write: (number: number) => writes.add(number, bytes), commits, statistics };
}

/** Keeps the event loop busy. */
function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

for (const [what, reads, use, isAtOnce] of [
  ['reads and a busy event loop beside a commit', 1, () => work(WORK_MS), false],
  ['reads beside a commit', 1, () => sleep(IDLE_MS), true],
  ['a busy event loop beside a commit', 0, () => work(WORK_MS), true],
] as const) {
  test(`GroupCommit › ${what} › the next one begins ${isAtOnce ? 'at once' : 'after a pause'}`, async () => {
    const { write, commits, statistics } = create();
    const writing = [write(1)];
    await nextTurn();
    writing.push(write(2));
    await use();
    statistics.reads += reads;
    await commits[0]?.end();
    assert.equal(commits.length, isAtOnce ? 2 : 1);
    await until(() => commits.length === 2, PAUSE_MS_MAX);
    await commits[1]?.end();
    assert.deepEqual(await Promise.all(writing), [2, 4]);
  });
}

test('GroupCommit › a queue that was full when its commit failed › has room again', async () => {
  const { write, commits } = create(WAITING_BYTES_MAX);
  const seen = [write(1)];
  await nextTurn();
  seen.push(write(2), write(3));
  const settled = Promise.all(seen.map((one) => one.catch(({ message }) => message)));
  await commits[0]?.fail(new PetstoreError('unavailable', 'away'));
  assert.deepEqual(await settled, ['away', 'away', 'too many writes wait for the disk']);
  const next = write(4);
  await nextTurn();
  await commits[1]?.end();
  assert.equal(await next, 8);
});

test('GroupCommit › a write of three that the database refuses › fails alone, unless the database goes away', async () => {
  for (const [last, outcome] of [
    ['end', 6],
    ['fail', 'away'],
  ] as const) {
    const { write, commits } = create();
    const seen = [1, 2, 3].map((number) => write(number).catch(({ message }) => message));
    await nextTurn();
    await commits[0]?.fail(new Error('not null'));
    await commits[1]?.end();
    await commits[2]?.fail(new Error('not null'));
    await commits[3]?.[last](new PetstoreError('unavailable', 'away'));
    assert.deepEqual(await Promise.all(seen), [2, 'not null', outcome]);
  }
});

test('GroupCommit › a write that waited for too long › is refused when the commit before it ends', async (t) => {
  let now = 5_000;
  t.mock.method(performance, 'now', () => now);
  const { write, commits, statistics } = create(1, WAIT_MS_MAX);
  const first = write(1);
  await nextTurn();
  const late = assert.rejects(write(2), {
    ...{ name: 'PetstoreError', code: 'unavailable' },
    message: 'the database commits too slowly for the writes that wait',
  });
  now += 1;
  const inTime = [write(3), write(4)];
  const none = createStatistics();
  assert.deepEqual({ ...statistics }, { ...none, waitingWrites: 3 });
  now += WAIT_MS_MAX;
  await commits[0]?.end();
  await late;
  now += 99;
  await commits[1]?.end();
  assert.deepEqual(await Promise.all([first, ...inTime]), [2, 6, 8]);
  const counted = { commits: 2, committedWrites: 3, commitSeconds: 1 };
  assert.deepEqual({ ...statistics }, { ...none, ...counted });
});
