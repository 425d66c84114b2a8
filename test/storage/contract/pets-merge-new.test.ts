/** What src/store.ts promises of `pets.merge` of pets without ids: all pets or none, on every engine. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { NewPet } from '../../../src/pet.ts';
import { newPet } from '../../arbitraries.ts';
import { fail, listAll, REX, repeat } from './data.ts';
import { test, testLasting } from './engines.ts';

test('pets.merge › any pets, more than go at once › are found as they were given, by ascending ids', async (store) => {
  await store.pets.add({ ...REX, status: 'sold' });
  const listSold = () => store.pets.listAsJson({ limit: 9, status: 'sold' });
  const { json } = await listSold();
  const given = fc.sample(newPet, 2_500);
  const { withNewIds } = await store.pets.merge(ReadableStream.from(given));
  assert.deepEqual(withNewIds, { count: 2_500, firstId: 2n, lastId: 2_501n });
  assert.notEqual((await listSold()).json, json);
  assert.deepEqual(
    (await listAll(store)).slice(1),
    given.map((pet, index) => ({ ...pet, id: BigInt(index + 2) })),
  );
});

test('pets.merge › an iteration that fails › adds none and throws what it threw', async (store) => {
  await store.pets.add(REX);
  await assert.rejects(store.pets.merge(fail(2_500)), { message: 'row 7 is wrong' });
  assert.equal((await listAll(store)).length, 1);
  const { withNewIds } = await store.pets.merge(repeat(3));
  assert.deepEqual(withNewIds, { count: 3, firstId: 2n, lastId: 4n });
});

test('pets.merge › read meanwhile › is seen whole or not at all', async (store, place) => {
  const reader = await place.openOther();
  const seen = new Set<number>();
  const count = async () => {
    seen.add((await reader.pets.list({ limit: 10_000 })).pets.length);
  };
  let isAdding = true;
  async function* slow(): AsyncGenerator<NewPet> {
    for (let part = 0; part < 5; part += 1) {
      yield* repeat(1_000);
      await count();
    }
  }
  const adding = store.pets.merge(slow()).finally(() => {
    isAdding = false;
  });
  while (isAdding) {
    await count();
    await new Promise(setImmediate);
  }
  await adding;
  await count();
  assert.deepEqual([...seen], [0, 5_000]);
});

test('pets.merge › while its iteration goes on › others add', async (store, place) => {
  const other = await place.openOther();
  async function* slow(): AsyncGenerator<NewPet> {
    for (let count = 0; count < 3; count += 1) {
      yield* repeat(1_500, { ...REX, status: 'pending' });
      await other.pets.add({ ...REX, status: 'sold' });
    }
  }
  assert.equal((await store.pets.merge(slow())).added, 4_500);
  assert.equal((await listAll(other, { status: 'sold' })).length, 3);
  assert.equal((await listAll(other, { status: 'pending' })).length, 4_500);
});

testLasting('pets.merge › two at once › are added both', async (store, place) => {
  const stores = [store, await place.openOther()];
  await Promise.all(stores.map(({ pets }) => pets.merge(repeat(1_500))));
  assert.equal((await listAll(store)).length, 3_000);
});
