/** What src/store.ts promises of `pets.add` and `pets.addOnce` of the store, on every engine. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Pet } from '../../../src/pet.ts';
import { newPet } from '../../arbitraries.ts';
import { addOnce, listAll, REQUEST, REX, repeat } from './data.ts';
import { age, refuseBad, test, testLasting } from './engines.ts';

/** The document promises a day. */
const IDEMPOTENCY_MS = 24 * 3_600_000;

const REUSED = { name: 'PetstoreError', code: 'idempotency_key_reused' };

test('pets.add › any pet › is found and listed exactly as it was given', async ({ pets }) => {
  await fc.assert(
    fc.asyncProperty(newPet, async (given) => {
      const added = await pets.add(given);
      assert.deepEqual(added, { id: added.id, ...given });
      assert.deepEqual(await pets.find(added.id), added);
      assert.deepEqual(await pets.list({ limit: 1, after: added.id - 1n }), { pets: [added] });
    }),
    { numRuns: 25 },
  );
});

test('pets.add › many of several turns at once › each is its own pet, the ids of a turn in their order', async (store) => {
  const { pets } = store;
  const adding: Promise<Pet>[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    for await (const pet of repeat(20, { ...REX, name: `Rex ${turn}` })) adding.push(pets.add(pet));
    await new Promise(setImmediate);
  }
  const added = await Promise.all(adding);
  assert.deepEqual(
    added.map(({ name }) => name),
    added.map((_, place) => `Rex ${Math.floor(place / 20)} ${place % 20}`),
  );
  const byId = added.toSorted((one, other) => Number(one.id - other.id));
  assert.deepEqual(
    byId.map(({ id }) => id),
    byId.map((_, place) => BigInt(place + 1)),
  );
  for (let place = 1; place < added.length; place += 1) {
    const [before, after] = added.slice(place - 1, place + 1) as [Pet, Pet];
    assert.ok(place % 20 === 0 || before.id < after.id, String(place));
  }
  assert.deepEqual(await listAll(store), byId);
});

test('pets.addOnce › the same names in two processes, in other orders › add one pet each', async (store, place) => {
  const stores = [store, await place.openOther()];
  for (let round = 0; round < 5; round += 1) {
    const keys = Array.from({ length: 20 }, (_, index) => `${round} ${index}`);
    const adding = stores.flatMap(({ pets }, index) =>
      (index === 0 ? keys : keys.toReversed()).map((key) =>
        addOnce(pets, { ...REX, name: key }, { ...REQUEST, key }),
      ),
    );
    const added = await Promise.all(adding);
    assert.deepEqual(
      added.map(({ name }) => name),
      [...keys, ...keys.toReversed()],
    );
  }
  assert.equal((await listAll(store)).length, 5 * 20);
});

test('pets.addOnce › new, repeated and reused names of one turn › are as one after the other, and names of another pet are refused', async (store) => {
  const { pets } = store;
  const sold = { ...REX, status: 'sold' } as const;
  const other = { ...REQUEST, key: 'other' };
  const rex = { ...REX, id: 1n };
  assert.deepEqual(await pets.addOnce(REX, REQUEST), { pet: rex, isReplay: false });
  const settled = await Promise.allSettled([
    pets.addOnce(REX, REQUEST),
    pets.addOnce(sold, REQUEST),
    pets.addOnce({ ...REX, name: 'Rex ' }, REQUEST),
    pets.addOnce({ ...REX, categoryId: 2n }, REQUEST),
    pets.addOnce(sold, other),
    pets.addOnce(sold, other),
    pets.addOnce(REX, other),
    pets.add(REX),
  ]);
  const pet = { ...sold, id: 2n };
  assert.deepEqual(
    settled.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code)),
    [
      { pet: rex, isReplay: true },
      ...Array(3).fill(REUSED.code),
      { pet, isReplay: false },
      { pet, isReplay: true },
      REUSED.code,
      { ...REX, id: 3n },
    ],
  );
  assert.deepEqual(await pets.addOnce(sold, other), { pet, isReplay: true });
  assert.equal((await listAll(store)).length, 3);
});

test('pets.addOnce › the same name of another key, or in another case › is another request', async (store) => {
  const { pets } = store;
  const requests = [REQUEST, { ...REQUEST, keyId: 8 }, { ...REQUEST, key: 'ORDER-1' }];
  // Sent again, each is the pet that it added, and not the equal one of another key.
  for (const _ of ['first', 'again']) {
    const added = await Promise.all(requests.map((request) => addOnce(pets, REX, request)));
    assert.deepEqual(
      added.map(({ id }) => id),
      [1n, 2n, 3n],
    );
  }
  assert.equal((await listAll(store)).length, 3);
});

testLasting(
  'pets.addOnce › after 24 hours and not before › is a new request, also if its pet was corrected',
  async ({ pets }, { address }) => {
    const mia = await pets.update(await addOnce(pets, REX, REQUEST), { ...REX, name: 'Mia' });
    const margin = 60_000;
    await age(address, IDEMPOTENCY_MS - margin);
    assert.deepEqual(await addOnce(pets, REX, REQUEST), mia);
    await age(address, margin);
    const tom = { ...REX, name: 'Tom' };
    for (const _ of ['first', 'again']) {
      assert.deepEqual(await addOnce(pets, tom, REQUEST), { ...tom, id: 2n });
    }
    await assert.rejects(addOnce(pets, REX, REQUEST), REUSED);
  },
);

testLasting(
  'pets.add, pets.addOnce › creates of many at once that the database refuses › fail alone, and keep nothing',
  async (store, place) => {
    const { pets } = store;
    await refuseBad(place.address);
    const add = async (index: number, name: string) =>
      index % 2 === 0
        ? pets.add({ ...REX, name })
        : addOnce(pets, { ...REX, name }, { ...REQUEST, key: `${index}` });
    const names = Array.from({ length: 20 }, (_, index) => (index % 7 === 3 ? 'bad' : 'good'));
    const settled = await Promise.allSettled(names.map((name, index) => add(index, name)));
    assert.deepEqual(
      settled.map(({ status }) => (status === 'fulfilled' ? 'good' : 'bad')),
      names,
    );
    const added = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const byId = added.toSorted((one, other) => Number(one.id - other.id));
    assert.deepEqual(await listAll(store), byId);
    assert.deepEqual(await add(1, 'good'), added[1]);
    const again = await add(3, 'Mia');
    assert.deepEqual(again, { ...REX, id: again.id, name: 'Mia' });
  },
);
