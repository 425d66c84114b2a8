/** What src/store.ts promises of `pets.addAllWithIds` of the store: all pets with their ids, or none, on every engine. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { INT64_MAX } from '../../../src/int64.ts';
import type { Pet } from '../../../src/pet.ts';
import type { Store } from '../../../src/store.ts';
import { newPet } from '../../arbitraries.ts';
import { countPets } from '../../support/count-pets.ts';
import { listAll, REX, repeat } from './data.ts';
import { test } from './engines.ts';

function addAllWithIds({ pets }: Store, given: readonly Pet[], skipSame = false) {
  return pets.addAllWithIds(ReadableStream.from(given), skipSame);
}

const toPet = (id: number | bigint, name = 'Rex'): Pet => ({ ...REX, id: BigInt(id), name });
const refusal = (message: string) => ({ name: 'PetstoreError', code: 'bad_request', message });

test('pets.addAllWithIds › any pets in any order › are found as given, and the next id is greater', async (store) => {
  const ids = fc.uniqueArray(fc.bigInt({ min: 1n, max: 2n ** 62n }), { minLength: 1_500 });
  const [given = []] = fc.sample(ids, 1);
  const pets = fc.sample(newPet, given.length).map((pet, index) => {
    return { ...pet, id: given[index] as bigint };
  });
  pets.sort((one, other) => (one.id < other.id ? -1 : 1));
  const lastId = pets.at(-1)?.id ?? 0n;
  const shuffled = pets.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  assert.deepEqual(await addAllWithIds(store, shuffled), { count: pets.length, lastId });
  assert.deepEqual(await listAll(store), pets);
  assert.equal((await store.pets.add(REX)).id, lastId + 1n);
});

test('pets.addAllWithIds › ids below the last one › leave the next id as it was', async (store) => {
  const { pets } = store;
  await pets.addAll(repeat(9));
  await pets.remove(5n);
  await addAllWithIds(store, [toPet(5)]);
  await pets.remove(9n);
  assert.equal((await pets.addAll(repeat(1))).lastId, 10n);
  assert.equal((await pets.add(REX)).id, 11n);
});

test('pets.addAllWithIds › the greatest id that a file may have › leaves one more id', async (store) => {
  const { pets } = store;
  await addAllWithIds(store, [toPet(INT64_MAX - 1n)]);
  await assert.rejects(pets.addAll(repeat(2)), refusal('not enough ids are left'));
  assert.equal((await pets.add(REX)).id, INT64_MAX);
  await assert.rejects(pets.addAll(repeat(1)), refusal('not enough ids are left'));
  await assert.rejects(pets.add(REX), {
    name: 'PetstoreError',
    code: 'unavailable',
    message: /no id is left/,
  });
});

const many = Array.from({ length: 12 }, (_, index) => toPet(index + 1));
for (const [what, stored, given, skipSame, message] of [
  [
    'an id that exists',
    [1, 2, 3],
    [toPet(4), toPet(2)],
    false,
    'the store has pets with the same ids, such as 2',
  ],
  [
    'more ids that exist than are named',
    many.map(({ id }) => Number(id)),
    [toPet(99), ...many],
    false,
    'the store has pets with the same ids, such as 1, 2, 3, 4, 5, 6, 7, 8, 9, 10',
  ],
  [
    'another content',
    [1, 2, 3],
    [toPet(4), toPet(3, 'Tom'), toPet(2), toPet(1, 'Tom')],
    true,
    'the store has other pets with the same ids, such as 1, 3',
  ],
  [
    'an id twice',
    [],
    [...many, toPet(20), toPet(9), toPet(3), toPet(9)],
    true,
    'the id 3 is given twice',
  ],
] as const) {
  test(`pets.addAllWithIds › ${what} › is refused, and nothing is added`, async (store) => {
    await addAllWithIds(
      store,
      stored.map((id) => toPet(id)),
    );
    await assert.rejects(addAllWithIds(store, given, skipSame), refusal(message));
    assert.equal(await countPets(store.pets), stored.length);
    assert.equal((await store.pets.add(REX)).id, BigInt(stored.length + 1));
  });
}

test('pets.addAllWithIds › pets that are there already › are left out if they are the same', async (store) => {
  const given: Pet[] = [toPet(3), { ...toPet(1), status: 'sold' }];
  await addAllWithIds(store, given);
  assert.equal((await addAllWithIds(store, given, true)).count, 0);
  assert.equal((await addAllWithIds(store, [...given, toPet(2)], true)).count, 1);
  assert.equal(await countPets(store.pets), 3);
  await assert.rejects(
    addAllWithIds(store, [toPet(1)], true),
    refusal('the store has other pets with the same ids, such as 1'),
  );
});

test('pets.addAllWithIds › an id that another takes meanwhile › is refused', async (store, place) => {
  const other = await place.openOther();
  async function* given() {
    yield toPet(1);
    await other.pets.add(REX);
  }
  await assert.rejects(
    store.pets.addAllWithIds(given(), false),
    refusal('the store has pets with the same ids, such as 1'),
  );
});
