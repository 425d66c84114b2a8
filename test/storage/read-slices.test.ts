/** The reads of a turn are read in slices, with a turn of the event loop between them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { batchReads } from '../../src/storage/batch-reads.ts';
import { LIMITS } from '../../src/storage/limits.ts';
import { openStore } from '../../src/storage/open.ts';
import { disposable } from '../support/disposable.ts';
import { within } from '../support/until.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

test('batchReads › a read that ends after some requests › reads the others in the next turns', async () => {
  const batches: (readonly number[])[] = [];
  const double = batchReads((requests: readonly number[]) => {
    batches.push(requests);
    return requests.slice(0, 2).map((request) => 2 * request);
  });
  const first = double(1);
  const others = Promise.all([double(2), double(3)]);
  assert.equal(await within(first), 2);
  const last = double(4);
  assert.deepEqual(await within(others), [4, 6]);
  assert.equal(await within(last), 8);
  assert.deepEqual(batches, [
    [1, 2, 3],
    [3, 4],
  ]);
});

test('batchReads › more requests than are read at once › are several batches', async () => {
  const sizes: number[] = [];
  const same = batchReads(async (requests: readonly number[]) => {
    sizes.push(requests.length);
    return requests;
  }, 50);
  assert.deepEqual(await within(Promise.all(numbers(120).map(same))), numbers(120));
  assert.deepEqual(sizes, [50, 50, 20]);
});

test('SQLite › 200 pages in one turn, each of which takes a millisecond › are read ten in a turn', async (t) => {
  await using store = disposable(await openStore('sqlite::memory:', { create: true }));
  await store.pets.add({ name: 'Rex', categoryId: 1n });
  let clock = 0;
  t.mock.method(performance, 'now', () => clock++);
  let isDone = false;
  Promise.all(
    numbers(200).map((after) => store.pets.listAsJson({ limit: 100, after: BigInt(after) })),
  ).then(() => {
    isDone = true;
  });
  let turns = 0;
  for (; !isDone && turns < 200; turns += 1) await nextTurn();
  assert.ok(turns >= 200 / LIMITS.SLICE_MS_MAX && turns < 200 / 2, `${turns} turns`);
});
