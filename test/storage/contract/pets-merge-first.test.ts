/** What src/store.ts promises of `pets.merge` with `onlyFirst`, on every engine. */

import assert from 'node:assert/strict';
import { generatePets } from '../../../src/sample.ts';
import type { Store } from '../../../src/store.ts';
import { countPets } from '../../support/count-pets.ts';
import { listAll, REX, toRange } from './data.ts';
import { refuseBad, test, testLasting } from './engines.ts';

const samples = () => generatePets(1_001);
const seed = ({ pets }: Store) => pets.merge(samples(), { onlyFirst: true });

test('pets.merge onlyFirst › a new store › has exactly these pets, and the next id follows', async (store) => {
  assert.equal((await seed(store)).added, 1_001);
  const expected = [];
  for await (const pet of samples()) expected.push(pet);
  assert.deepEqual(await listAll(store), expected);
  assert.equal((await store.pets.add(REX)).id, 1_002n);
});

test('pets.merge onlyFirst › a store whose only pet was removed › adds none', async (store) => {
  await store.pets.add(REX);
  await store.pets.remove([toRange(1)]);
  assert.equal((await seed(store)).added, 0);
  assert.deepEqual(await listAll(store), []);
});

testLasting(
  'pets.merge onlyFirst › after one that the database refused › adds the pets',
  async ({ pets }, { address }) => {
    await refuseBad(address);
    const first = (name: string) =>
      pets.merge(ReadableStream.from([REX, { ...REX, name }]), { onlyFirst: true });
    await assert.rejects(first('bad'));
    assert.equal((await first('Mia')).added, 2);
  },
);

testLasting(
  'pets.merge onlyFirst › from three processes at once › adds the pets once',
  async (store, place) => {
    const stores = [store, await place.openOther(), await place.openOther()];
    const counts = (await Promise.all(stores.map(seed))).map(({ added }) => added);
    assert.deepEqual(counts.toSorted(), [0, 0, 1_001]);
    assert.equal(await countPets(store.pets), 1_001);
  },
);
