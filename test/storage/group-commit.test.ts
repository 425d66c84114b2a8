/** Which writes share a trip to the disk, what each hears of it and how much may wait; store.contract.test.ts has what is written. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { groupCommit, type Outcome, toRowBytes } from '../../src/storage/group-commit.ts';

/** The most that may wait. */
const WAITING_MAX = 10_000;
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

const UNAVAILABLE = { name: 'PetstoreError', code: 'unavailable' };

interface Trip {
  readonly writes: readonly number[];
  end(outcomes?: readonly Outcome<number>[]): Promise<void>;
  fail(error: Error): Promise<void>;
}

interface Shared {
  readonly write: (write: number) => Promise<number>;
  /** Those that were begun so far, each under way until it is ended. */
  readonly trips: readonly Trip[];
}

/** Writes of numbers, whose result is the double unless the end of the trip says otherwise. */
function create(toBytes: (write: number) => number = () => 1): Shared {
  const trips: Trip[] = [];
  const write = groupCommit<number, number>((writes) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Outcome<number>[]>();
    trips.push({
      writes,
      async end(outcomes = writes.map((one) => ({ result: 2 * one }))) {
        resolve(outcomes);
        await nextTurn();
      },
      async fail(error) {
        reject(error);
        await nextTurn();
      },
    });
    return promise;
  }, toBytes);
  return { write, trips };
}

/** What became of each so far: its result, its error's message, or `waits`. */
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

test('groupCommit › writes of one turn, in several steps › are one trip in their order, and hear of it after its end', async () => {
  const { write, trips } = create();
  const seen = watch([write(3), write(1), write(3), Promise.resolve().then(() => write(2))]);
  assert.equal(trips.length, 0);
  await nextTurn();
  await nextTurn();
  assert.deepEqual(
    trips.map(({ writes }) => writes),
    [[3, 1, 3, 2]],
  );
  assert.deepEqual(seen, ['waits', 'waits', 'waits', 'waits']);
  await trips[0]?.end();
  assert.deepEqual(seen, [6, 2, 6, 4]);
});

test('groupCommit › writes while a trip is under way › are the next trip together, and none is begun for nobody', async () => {
  const { write, trips } = create();
  const seen = watch([write(1)]);
  await nextTurn();
  const later: (number | string)[][] = [];
  for (const one of [2, 3]) {
    later.push(watch([write(one)]));
    await nextTurn();
  }
  assert.equal(trips.length, 1);
  await trips[0]?.end();
  assert.deepEqual(trips[1]?.writes, [2, 3]);
  assert.deepEqual([seen, ...later], [[2], ['waits'], ['waits']]);
  await trips[1]?.end();
  assert.deepEqual(later, [[4], [6]]);
  assert.equal(trips.length, 2);
  const last = watch([write(4)]);
  await nextTurn();
  await trips[2]?.end();
  assert.deepEqual(last, [8]);
});

test('groupCommit › outcomes of all kinds › come to each write by its place', async () => {
  const { write, trips } = create();
  const seen = watch([1, 2, 3, 4].map(write));
  await nextTurn();
  const bad = { error: new Error('bad') };
  await trips[0]?.end([{ result: 7 }, bad, { result: 0 }]);
  assert.deepEqual(seen, [7, 'bad', 0, 'a write has no outcome']);
});

test('groupCommit › a trip that fails › fails what gathered meanwhile too, and the next write is another trip', async () => {
  const { write, trips } = create();
  const seen = watch([write(1), write(2)]);
  await nextTurn();
  const gathered = watch([write(3)]);
  await trips[0]?.fail(new Error('away'));
  assert.deepEqual([...seen, ...gathered], ['away', 'away', 'away']);
  const next = watch([write(4)]);
  await nextTurn();
  assert.deepEqual(
    trips.map(({ writes }) => writes),
    [[1, 2], [4]],
  );
  await trips[1]?.end();
  assert.deepEqual(next, [8]);
});

test('groupCommit › a send that throws at once › is a failure like any other', async () => {
  const write = groupCommit<number, number>(
    () => {
      throw new Error('no thread');
    },
    () => 1,
  );
  for (let times = 0; times < 2; times += 1) {
    await assert.rejects(write(1), { message: 'no thread' });
  }
});

for (const [what, count, bytes] of [
  ['10,000 writes', WAITING_MAX, 1],
  ['8 MiB', 8, WAITING_BYTES_MAX / 8],
] as const) {
  test(`groupCommit › more than ${what} that wait › is refused at once, the others are written`, async () => {
    const { write, trips } = create(() => bytes);
    const first = watch([write(0)]);
    await nextTurn();
    // What is under way does not wait any more.
    const waiting = watch(Array.from({ length: count }, (_, index) => write(index)));
    const over = watch([write(1)]);
    await assert.rejects(write(1), {
      ...UNAVAILABLE,
      message: 'too many writes wait for the disk',
    });
    assert.deepEqual(over, ['too many writes wait for the disk']);
    await trips[0]?.end();
    assert.deepEqual(first, [0]);
    // All wait no more, so there is room for as many.
    const more = watch(Array.from({ length: count }, (_, index) => write(index)));
    await trips[1]?.end();
    await trips[2]?.end();
    const doubles = Array.from({ length: count }, (_, index) => 2 * index);
    assert.deepEqual([waiting, more], [doubles, doubles]);
  });
}

test('groupCommit › a queue that was full when its trip failed › has room again', async () => {
  const { write, trips } = create(() => WAITING_BYTES_MAX);
  const seen = watch([write(1)]);
  await nextTurn();
  const gathered = watch([write(2), write(3)]);
  await trips[0]?.fail(new Error('away'));
  assert.deepEqual([...seen, ...gathered], ['away', 'away', 'too many writes wait for the disk']);
  const next = watch([write(4)]);
  await nextTurn();
  await trips[1]?.end();
  assert.deepEqual(next, [8]);
});

test('toRowBytes › the longest row of a pet › is counted with all its text and below 2 KiB', () => {
  const row = ['x'.repeat(510), 2n ** 63n - 1n, 'available'];
  assert.ok(toRowBytes(row) > 2 * 510);
  assert.ok(toRowBytes(row) < 2_048);
  assert.ok(toRowBytes([null]) > 0);
});
