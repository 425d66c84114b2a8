/** The reads of a turn are read in slices, with a turn of the event loop between them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIMITS } from '../../src/storage/limits.ts';
import { openStore } from '../../src/storage/open.ts';
import { within } from '../support/until.ts';

test('SQLite › 200 pages in one turn, each of which takes a millisecond › are read ten in a turn', async (t) => {
  await using store = await openStore('sqlite::memory:', { create: true });
  await store.pets.add({ name: 'Rex', categoryId: 1n });
  let clock = 0;
  t.mock.method(performance, 'now', () => clock++);
  let isDone = false;
  const afters = Array.from({ length: 200 }, (_, index) => BigInt(199 - index));
  const listing = Promise.all(
    afters.map((after) => store.pets.listAsJson({ limit: 100, after })),
  ).finally(() => {
    isDone = true;
  });
  let turns = 0;
  for (; !isDone && turns < 200; turns += 1) await nextTurn();
  const pages = (await within(listing)).map(({ json }) => json);
  assert.deepEqual(pages, [...Array(199).fill('[]'), '[{"id":1,"name":"Rex","categoryId":1}]']);
  assert.ok(turns >= 200 / LIMITS.SLICE_MS_MAX && turns < 200 / 2, `${turns} turns`);
});
