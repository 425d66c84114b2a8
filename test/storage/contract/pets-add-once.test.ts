/** What src/store.ts promises of `pets.addOnce` of the store: the same request again adds nothing, on every engine. */

import assert from 'node:assert/strict';
import type { Pet } from '../../../src/pet.ts';
import { addOnce, listAll, REQUEST, REX } from './data.ts';
import { age, refuseBad, test, testLasting } from './engines.ts';

/** The document promises a day. */
const IDEMPOTENCY_MS = 24 * 3_600_000;

const REUSED = { name: 'PetstoreError', code: 'idempotency_key_reused' };

test('pets.addOnce › the same request again › is the pet that it added', async (store) => {
  const { pets } = store;
  await pets.add(REX);
  for (const given of [REX, { ...REX, status: 'sold' }] as const) {
    const request = { ...REQUEST, key: String(given.status) };
    const { pet, isReplay } = await pets.addOnce(given, request);
    assert.deepEqual(pet, { id: pet.id, ...given });
    assert.equal(isReplay, false);
    await pets.add(REX);
    const again = await pets.addOnce(given, request);
    assert.deepEqual(again, { pet, isReplay: true });
  }
  assert.equal((await listAll(store)).length, 5);
});

test('pets.addOnce › fifty at once, and others among adds › add one pet each', async (store, place) => {
  const stores = [store, await place.openOther()];
  const addIndexed = (index: number, key: string): Promise<Pet> => {
    const { pets } = stores[index % 2] ?? store;
    return addOnce(pets, { ...REX, name: key }, { ...REQUEST, key });
  };
  const same = Array.from({ length: 50 }, (_, index) => addIndexed(index, 'same'));
  const others = Array.from({ length: 20 }, async (_, index) => {
    const [own] = await Promise.all([addIndexed(index, `${index}`), store.pets.add(REX)]);
    assert.deepEqual(await addIndexed(index + 1, `${index}`), own);
    return own.name;
  });
  assert.equal(new Set((await Promise.all(same)).map(({ id }) => id)).size, 1);
  const names = (await Promise.all(others)).concat('same', Array(20).fill('Rex'));
  const listed = await listAll(store);
  assert.deepEqual(listed.map(({ name }) => name).sort(), names.sort());
});

test('pets.addOnce › new, repeated and reused names of one turn › are as one after the other', async (store) => {
  const { pets } = store;
  const earlier = await addOnce(pets, REX, REQUEST);
  const tom = { ...REX, name: 'Tom' };
  const [repeated, reused, plain, first, second, third] = await Promise.allSettled([
    addOnce(pets, REX, REQUEST),
    addOnce(pets, tom, REQUEST),
    pets.add(REX),
    addOnce(pets, tom, { ...REQUEST, key: 'new' }),
    addOnce(pets, tom, { ...REQUEST, key: 'new' }),
    addOnce(pets, REX, { ...REQUEST, key: 'new' }),
  ]);
  assert.deepEqual(repeated, { status: 'fulfilled', value: earlier });
  assert.equal(plain?.status, 'fulfilled');
  assert.deepEqual(second, first);
  for (const refused of [reused, third]) {
    assert.equal(refused?.status === 'rejected' && refused.reason.code, REUSED.code);
  }
  const listed = await listAll(store);
  assert.deepEqual(
    listed.map(({ name }) => name),
    ['Rex', 'Rex', 'Tom'],
  );
});

test('pets.addOnce › another pet › is idempotency_key_reused and adds nothing', async (store) => {
  const { pets } = store;
  const added = await addOnce(pets, { ...REX, status: 'sold' }, REQUEST);
  for (const other of [
    REX,
    { ...REX, status: 'pending' },
    { ...REX, status: 'sold', name: 'Rex ' },
    { ...REX, status: 'sold', categoryId: 2n ** 53n + 1n },
  ] as const) {
    await assert.rejects(addOnce(pets, other, REQUEST), REUSED);
  }
  assert.deepEqual(await listAll(store), [added]);
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
  'pets.addOnce › after 24 hours and not before › is a new request',
  async ({ pets }, { address }) => {
    const added = await addOnce(pets, REX, REQUEST);
    const margin = 60_000;
    await age(address, IDEMPOTENCY_MS - margin);
    assert.deepEqual(await addOnce(pets, REX, REQUEST), added);
    await age(address, margin);
    const other = await addOnce(pets, { ...REX, name: 'Tom' }, REQUEST);
    assert.deepEqual(other, { ...REX, id: added.id + 1n, name: 'Tom' });
    await assert.rejects(addOnce(pets, REX, REQUEST), REUSED);
  },
);

testLasting(
  'pets.addOnce › a create that failed › keeps nothing, and the others of its commit stand',
  async (store, place) => {
    const { pets } = store;
    await refuseBad(place.address);
    const settled = await Promise.allSettled([
      addOnce(pets, REX, { ...REQUEST, key: 'one' }),
      addOnce(pets, { ...REX, name: 'bad' }, REQUEST),
      addOnce(pets, REX, { ...REQUEST, key: 'two' }),
      addOnce(pets, REX, REQUEST),
    ]);
    const statuses = settled.map(({ status }) => status);
    assert.deepEqual(statuses, ['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    const added = await addOnce(pets, REX, REQUEST);
    assert.equal(settled[3]?.status === 'fulfilled' && settled[3].value.id, added.id);
    assert.equal((await listAll(store)).length, 3);
  },
);
