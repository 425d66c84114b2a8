/** What src/store.ts promises of `pets.add` of the store, on every engine. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Pet } from '../../../src/pet.ts';
import { newPet } from '../../arbitraries.ts';
import { listAll, REX, repeat } from './data.ts';
import { refuseBad, test, testLasting } from './engines.ts';

test('pets.add › any pet › is found and listed exactly as it was given', async ({ pets }) => {
  await fc.assert(
    fc.asyncProperty(newPet, async (given) => {
      const added = await pets.add(given);
      assert.deepEqual(added, { id: added.id, ...given });
      assert.deepEqual(await pets.find(added.id), added);
      assert.deepEqual(await pets.list({ limit: 1, after: added.id - 1n }), { pets: [added] });
    }),
  );
});

test('pets.add › many of several turns at once › each is its own pet, the ids of a turn in their order', async (store) => {
  const { pets } = store;
  const adding: Promise<Pet>[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    for await (const pet of repeat(60, { ...REX, name: `Rex ${turn}` })) adding.push(pets.add(pet));
    await new Promise(setImmediate);
  }
  const added = await Promise.all(adding);
  assert.deepEqual(
    added.map(({ name }) => name),
    added.map((_, place) => `Rex ${Math.floor(place / 60)} ${place % 60}`),
  );
  const byId = added.toSorted((one, other) => Number(one.id - other.id));
  assert.deepEqual(
    byId.map(({ id }) => id),
    byId.map((_, place) => BigInt(place + 1)),
  );
  for (let place = 1; place < added.length; place += 1) {
    const [before, after] = added.slice(place - 1, place + 1) as [Pet, Pet];
    assert.ok(place % 60 === 0 || before.id < after.id, String(place));
  }
  assert.deepEqual(await listAll(store), byId);
});

testLasting(
  'pets.add › one of many at once that the database refuses › fails alone',
  async (store, place) => {
    const { pets } = store;
    await refuseBad(place.address);
    const names = Array.from({ length: 50 }, (_, index) => (index % 20 === 7 ? 'bad' : 'good'));
    const settled = await Promise.allSettled(names.map((name) => pets.add({ ...REX, name })));
    assert.deepEqual(
      settled.map(({ status }) => (status === 'fulfilled' ? 'good' : 'bad')),
      names,
    );
    const added = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const byId = added.toSorted((one, other) => Number(one.id - other.id));
    assert.deepEqual(await listAll(store), byId);
  },
);
