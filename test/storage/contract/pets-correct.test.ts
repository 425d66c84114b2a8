/** What src/store.ts promises of `pets.update` and `pets.remove` of the store, on every engine. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { INT64_MAX, INT64_MIN } from '../../../src/int64.ts';
import type { NewPet, Pet } from '../../../src/pet.ts';
import { openStore } from '../../../src/storage/open.ts';
import type { PetStore, Store } from '../../../src/store.ts';
import { addOnce, fail, listAll, REQUEST, REX, repeat, toRange } from './data.ts';
import { testLasting as test } from './engines.ts';

const NOT_FOUND = { name: 'PetstoreError', code: 'not_found' };
const REUSED = { name: 'PetstoreError', code: 'idempotency_key_reused' };
const GONE = {
  ...{ name: 'PetstoreError', code: 'gone' },
  message: /this Idempotency-Key was removed: send a new key/,
};

async function getPet(pets: PetStore, id: bigint): Promise<Pet> {
  const pet = await pets.find(id);
  assert.ok(pet);
  return pet;
}

test('pets.update › each field › is what every later read has, and no other pet changes', async (store) => {
  const { pets } = store;
  for (let count = 0; count < 3; count += 1) await pets.add({ ...REX, status: 'sold' });
  const changes: readonly NewPet[] = [
    { ...REX, name: '"é\u{1f436}\\', status: 'sold' },
    { ...REX, categoryId: INT64_MIN, status: 'sold' },
    { ...REX, categoryId: INT64_MAX, status: 'pending' },
    REX,
    { ...REX, status: 'available' },
  ];
  for (const newPet of changes) {
    const expected = { id: 2n, ...newPet };
    assert.deepEqual(await pets.update(await getPet(pets, 2n), newPet), expected);
    assert.deepEqual(await pets.find(2n), expected);
  }
  const others = [1n, 3n].map((id) => ({ id, ...REX, status: 'sold' }));
  assert.deepEqual(await listAll(store, { status: 'sold' }), others);
  assert.equal((await listAll(store)).length, 3);
});

test('pets.update › a pet that is no longer so › is a conflict and changes nothing', async (store, place) => {
  const { pets } = store;
  const { pets: others } = await place.openOther();
  const sold = { ...REX, status: 'sold' } as const;
  const pet = await addOnce(pets, sold, REQUEST);
  for (const old of [
    { ...pet, id: 2n },
    { ...pet, name: 'Re' },
    { ...pet, categoryId: 2n },
    { ...pet, status: 'pending' },
    { ...REX, id: 1n },
  ] as const) {
    await assert.rejects(pets.update(old, { ...REX, name: 'Mia' }), {
      ...{ name: 'PetstoreError', code: 'conflict' },
      message: `pet ${old.id} was changed or removed meanwhile`,
    });
  }
  assert.deepEqual(await addOnce(pets, sold, REQUEST), pet);
  assert.deepEqual(await listAll(store), [pet]);
  const both = await Promise.allSettled([pets, others].map((one) => one.update(pet, REX)));
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

const ASCII = Array.from({ length: 0x7f }, (_, code) => String.fromCharCode(code + 1)).join('');
/** The contents that JSON in SQL could write in another way than JSON.stringify. */
const ESCAPED = `${ASCII}\u0080\u2028\ufeff\u{1f436}`;

const CORRECTIONS = {
  update: async (pets: PetStore, pet: Pet) => pets.update(await getPet(pets, pet.id), pet),
  merge: (pets: Store['pets'], pet: Pet) =>
    pets.merge(ReadableStream.from([pet]), { update: true }),
};

for (const [name, correct] of Object.entries(CORRECTIONS)) {
  test(`pets.${name} › the create of a corrected pet is sent again, in a copy too › is the pet as it is now`, async (store, place) => {
    const { pets } = store;
    const created: NewPet = { name: ESCAPED, categoryId: INT64_MIN, status: 'sold' };
    await addOnce(pets, created, REQUEST);
    await addOnce(pets, REX, { ...REQUEST, key: 'same' });
    await correct(pets, { ...REX, id: 2n });
    for (const name of ['Mia', 'Tom']) {
      const corrected = { ...REX, id: 1n, name };
      await correct(pets, corrected);
      assert.deepEqual(await addOnce(pets, created, REQUEST), corrected);
    }
    // What it is now was never sent with this key.
    for (const name of ['Mia', 'Tom']) {
      await assert.rejects(addOnce(pets, { ...REX, name }, REQUEST), REUSED);
    }
    const file = join(place.folder, 'backup.db');
    await store.backup(file);
    await using copy = await openStore(`sqlite:${file}`, { create: false });
    assert.deepEqual(await addOnce(copy.pets, created, REQUEST), { ...REX, id: 1n, name: 'Tom' });
    assert.equal((await addOnce(copy.pets, REX, { ...REQUEST, key: 'same' })).id, 2n);
    assert.equal((await listAll(copy)).length, 2);
  });
}

test('pets.remove › ids and ranges, more than go at once › are what they were, by id, and they alone are gone', async (store) => {
  const { pets } = store;
  await pets.merge(repeat(600));
  const all = await listAll(store);
  const ranges = [
    { first: 590n, last: 9_000n },
    ...all.slice(3, 560).map(({ id }) => toRange(id)),
    ...[toRange(595), { first: 1n, last: 2n }, { first: 5n, last: 6n }],
  ];
  const removed = all.filter(({ id }) => id <= 2 || (id >= 4 && id <= 560) || id >= 590);
  assert.deepEqual(await pets.remove(ranges, true), removed);
  const message = 'the pets changed while they were printed: none is removed';
  await assert.rejects(pets.remove(ranges, false, removed.slice(1)), { message });
  assert.equal((await listAll(store)).length, all.length);
  assert.deepEqual(await pets.remove(ranges, false, removed), removed);
  assert.deepEqual(
    await listAll(store),
    all.filter((pet) => !removed.includes(pet)),
  );
  // A range is as good if only its first or its last id has a pet.
  for (const [first, last] of [
    [1n, 3n],
    [589n, 9_000n],
  ] as const) {
    assert.equal((await pets.remove([{ first, last }], true)).length, 1);
  }
});

test('pets.remove › an id or a range without a pet › removes none', async (store) => {
  const { pets } = store;
  await pets.add(REX);
  for (const [ranges, named] of [
    [[toRange(2)], '2'],
    [[toRange(1), toRange(INT64_MAX)], INT64_MAX],
    [[toRange(1), { first: 2n, last: 9n }], '2-9'],
    [[...Array(600).fill(toRange(1)), toRange(0)], '0'],
  ] as const) {
    for (const dryRun of [true, false]) {
      const message = `there is no pet ${named}`;
      await assert.rejects(pets.remove(ranges, dryRun), { ...NOT_FOUND, message });
    }
  }
  assert.deepEqual(await listAll(store), [{ id: 1n, ...REX }]);
});

test('pets.remove › the greatest id › is never used again, in a copy neither', async (store, place) => {
  const { pets } = store;
  await pets.add(REX);
  await pets.add(REX);
  await pets.remove([toRange(2)]);
  const file = join(place.folder, 'backup.db');
  await store.backup(file);
  await using copy = await openStore(`sqlite:${file}`, { create: false });
  assert.equal((await copy.pets.add(REX)).id, 3n);
  assert.equal((await addOnce(pets, REX, REQUEST)).id, 3n);
  await pets.remove([toRange(3)]);
  assert.equal((await pets.add(REX)).id, 4n);
});

test('pets.remove › its create is sent again › is gone, and not added again', async (store) => {
  const { pets } = store;
  const added = await addOnce(pets, REX, REQUEST);
  await pets.update(added, { ...REX, name: 'Mia' });
  await pets.remove([toRange(1)]);
  for (const name of ['Rex', 'Mia', 'Tom']) {
    await assert.rejects(addOnce(pets, { ...REX, name }, REQUEST), GONE);
  }
  assert.deepEqual(await listAll(store), []);
  assert.equal((await pets.add(REX)).id, 2n);
});

test('pets.remove › 20 at once, beside imports and a backup › queue', async (store, place) => {
  const { pets } = store;
  await pets.merge(repeat(20));
  const work = (await listAll(store)).flatMap(({ id }) => [
    pets.remove([toRange(id)]).then(([removed]) => assert.equal(removed?.id, id)),
    ...(id % 10n === 0n ? [pets.merge(repeat(1_001))] : []),
  ]);
  const failing = assert.rejects(pets.merge(fail(1)), /row 7 is wrong/);
  const file = join(place.folder, 'backup.db');
  await Promise.all([...work, failing, store.backup(file)]);
  await using copy = await openStore(`sqlite:${file}`, { create: false });
  for (const one of [store, copy]) assert.equal((await listAll(one)).length, 2_002);
});
