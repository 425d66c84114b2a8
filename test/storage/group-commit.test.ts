/** Which writes share a commit, the outcome of each, and how many may wait. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { GroupCommit, type Outcome } from '../../src/storage/group-commit.ts';
import { Statistics } from '../../src/store.ts';
import { until } from '../support/until.ts';

/** The bytes of the writes that may wait. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
/** How long a write of some tests waits at most for its commit. */
const WAIT_MS_MAX = 900;

/** How long this process works, or does nothing, during a commit. */
const WORK_MS = 5;
const IDLE_MS = 500;
/** A pause is much shorter; the rest is for a machine that is busy. */
const PAUSE_MS_MAX = 5_000;

const UNAVAILABLE = { name: 'PetstoreError', code: 'unavailable' };

interface Commit {
  end(): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** Writes of numbers, whose result is the double; each commit is under way until it is ended. */
function create(bytes = 1, waitMsMax?: number) {
  const commits: Commit[] = [];
  const statistics = new Statistics();
  const commit = (writes: readonly number[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Outcome<number>[]>();
    commits.push({
      async end() {
        resolve(writes.map((one) => 2 * one));
        await nextTurn();
      },
      async fail(error) {
        reject(error);
        await nextTurn();
      },
    });
    return promise;
  };
  const writes = new GroupCommit<number, number>(commit, statistics, waitMsMax);
  const write = (number: number) => writes.add(number, bytes);
  return { write, commits, statistics };
}

/** The state of each write: its result, the message of its error, or `waits`. */
function watch(writing: readonly Promise<number>[]): (number | string)[] {
  const seen: (number | string)[] = writing.map(() => 'waits');
  for (const [index, one] of writing.entries()) {
    one.then(
      (result) => {
        seen[index] = result;
      },
      (error: Error) => {
        seen[index] = error.message;
      },
    );
  }
  return seen;
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
  const seen = watch([write(1)]);
  await nextTurn();
  const waiting = watch([write(2), write(3)]);
  await commits[0]?.fail(new Error('away'));
  assert.deepEqual([...seen, ...waiting], ['away', 'away', 'too many writes wait for the disk']);
  const next = watch([write(4)]);
  await nextTurn();
  await commits[1]?.end();
  assert.deepEqual(next, [8]);
});

const TOO_SLOW = 'the database commits too slowly for the writes that wait';

/** A clock that moves when it is told to. */
function createClock(t: TestContext): { pass(ms: number): void } {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  return {
    pass(ms) {
      now += ms;
    },
  };
}

test('GroupCommit › two commits of a second each › are counted, their writes too, and those that wait', async (t) => {
  const clock = createClock(t);
  const { write, commits, statistics } = create();
  clock.pass(5_000);
  watch([write(1)]);
  await nextTurn();
  watch([write(2), write(3)]);
  const none = { ...new Statistics() };
  assert.deepEqual({ ...statistics }, { ...none, waitingWrites: 2 });
  for (const commit of [0, 1]) {
    clock.pass(1_000);
    await commits[commit]?.end();
  }
  const counted = { commits: 2, committedWrites: 3, commitSeconds: 2 };
  assert.deepEqual({ ...statistics }, { ...none, ...counted });
});

test('GroupCommit › a write that waited for too long › is refused when the commit before it ends', async (t) => {
  const clock = createClock(t);
  const { write, commits } = create(1, WAIT_MS_MAX);
  watch([write(1)]);
  await nextTurn();
  const late = write(2);
  const seen = watch([late]);
  clock.pass(1);
  const inTime = watch([write(3)]);
  clock.pass(WAIT_MS_MAX);
  assert.deepEqual(seen, ['waits']);
  await commits[0]?.end();
  await assert.rejects(late, { ...UNAVAILABLE, message: TOO_SLOW });
  assert.deepEqual(inTime, ['waits']);
  await commits[1]?.end();
  assert.deepEqual(inTime, [6]);
});
