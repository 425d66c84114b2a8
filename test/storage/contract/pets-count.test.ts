/** What src/store.ts promises of `pets.count` of the store, on every engine. */

import assert from 'node:assert/strict';
import { repeat } from './data.ts';
import { test } from './engines.ts';

test('pets.count › pets that are added and removed › are those that are left', async ({ pets }) => {
  assert.equal(await pets.count(), 0);
  await pets.addAll(repeat(1_200));
  assert.equal(await pets.count(), 1_200);
  await pets.remove(7n);
  assert.equal(await pets.count(), 1_199);
});
