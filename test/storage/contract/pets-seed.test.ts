/** What src/store.ts promises of `pets.seed` of the store, on every engine. */

import assert from 'node:assert/strict';
import { generatePets } from '../../../src/sample.ts';
import { listAll, REX } from './data.ts';
import { test, testLasting } from './engines.ts';

const samples = () => generatePets({ count: 1_001, seed: 1 });

test('pets.seed › a new store › has exactly these pets, and the next id follows', async (store) => {
  assert.equal(await store.pets.seed(samples()), true);
  const expected = [];
  for await (const pet of samples()) expected.push(pet);
  assert.deepEqual(await listAll(store), expected);
  assert.equal((await store.pets.add(REX)).id, 1_002n);
});

test('pets.seed › a store whose only pet was removed › adds none', async (store) => {
  await store.pets.add(REX);
  await store.pets.remove(1n);
  assert.equal(await store.pets.seed(samples()), false);
  assert.deepEqual(await listAll(store), []);
});

testLasting(
  'pets.seed › from three processes at once › adds the pets once',
  async (store, place) => {
    const stores = [store, await place.openOther(), await place.openOther()];
    const seeded = await Promise.all(stores.map(({ pets }) => pets.seed(samples())));
    assert.deepEqual(seeded.sort(), [false, false, true]);
    assert.equal(await store.pets.count(), 1_001);
  },
);
