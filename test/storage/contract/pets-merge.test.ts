/** What src/store.ts promises of `pets.merge` of the store: all pets or none, on every engine. */

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { INT64_MAX } from '../../../src/int64.ts';
import {
  type GivenPet,
  NEW_PET_FIELDS,
  type NewPet,
  type Pet,
  toPetJson,
} from '../../../src/pet.ts';
import { generatePets } from '../../../src/sample.ts';
import type { LongWork, Store } from '../../../src/store.ts';
import { newPet } from '../../arbitraries.ts';
import { countPets } from '../../support/count-pets.ts';
import { nextPoll } from '../../support/until.ts';
import { fail, listAll, REX, repeat, toRange } from './data.ts';
import { refuseBad, testLasting as test, testOnFile } from './engines.ts';

type Options = Parameters<LongWork['merge']>[1];

function merge({ pets }: Pick<Store, 'pets'>, given: readonly GivenPet[], options?: Options) {
  return pets.merge(ReadableStream.from(given), options);
}

const counts = (added: number, corrected: number, unchanged: number) => ({
  ...{ added, corrected, unchanged },
  withNewIds: { count: 0, firstId: 0n, lastId: 0n },
});

const toPet = (id: number | bigint, name = 'Rex'): Pet => ({ ...REX, id: BigInt(id), name });
const refusal = (message: string) => ({ name: 'PetstoreError', code: 'bad_request', message });

test('pets.merge › any pets, more than go at once, with ids in any order and then without › are found as given, and the next id is greater', async (store) => {
  const samples = fc.sample(newPet, 30);
  const given = Array.from({ length: 1_010 }, (_, index) => samples[index % 30] as NewPet);
  const ids = new Set(fc.sample(fc.bigInt({ min: 1n, max: 2n ** 62n }), given.length));
  const withIds = [...ids].map((id, index) => ({ ...(given[index] as NewPet), id }));
  const expected: Pet[] = withIds.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const lastId = expected.at(-1)?.id ?? 0n;
  const { added, withNewIds } = await merge(store, withIds);
  assert.deepEqual([added, withNewIds.count, withNewIds.lastId], [ids.size, 0, lastId]);
  const readPage = () => store.pets.listAsJson({ limit: 1, after: lastId });
  assert.equal((await readPage()).json, '[]');
  const count = given.length;
  const more = await merge(store, given);
  const firstId = lastId + 1n;
  assert.deepEqual(more.withNewIds, { count, firstId, lastId: lastId + BigInt(count) });
  assert.notEqual((await readPage()).json, '[]');
  expected.push(...given.map((pet, index) => ({ ...pet, id: firstId + BigInt(index) })));
  assert.deepEqual(await listAll(store), expected);
  assert.equal((await store.pets.add(REX)).id, more.withNewIds.lastId + 1n);
});

test('pets.merge › ids below the last one › leave the next id as it was', async (store) => {
  const { pets } = store;
  await pets.merge(repeat(9));
  await pets.remove([toRange(5)]);
  await merge(store, [toPet(5)]);
  await pets.remove([toRange(9)]);
  assert.equal((await pets.merge(repeat(1))).withNewIds.lastId, 10n);
  assert.equal((await pets.add(REX)).id, 11n);
});

test('pets.merge › the greatest id that a file may have, and a pet without an id › gives it the last id, and none is left', async (store) => {
  const { withNewIds } = await merge(store, [toPet(INT64_MAX - 1n), REX]);
  assert.equal(withNewIds.lastId, INT64_MAX);
  const noneLeft = { name: 'PetstoreError', code: 'unavailable', message: /no id is left/ };
  await assert.rejects(store.pets.merge(repeat(1)), noneLeft);
  await assert.rejects(store.pets.add(REX), noneLeft);
});

for (const [what, stored, given, message] of [
  [
    'other contents',
    [1, 2, 3],
    [toPet(3, 'Tom'), toPet(2, 'Tom'), { ...toPet(1), status: 'sold' }],
    'pet 1 differs: the store has {"id":1,"name":"Rex","categoryId":1}, the file {"id":1,"name":"Rex","categoryId":1,"status":"sold"}; 2 more differ',
  ],
  [
    'an id twice',
    [],
    [toPet(3), toPet(9), toPet(20), toPet(9), toPet(3), REX, REX, toPet(9)],
    'the id 3 is given twice',
  ],
] as const) {
  test(`pets.merge › ${what} › is refused, and nothing is added`, async (store) => {
    await merge(
      store,
      stored.map((id) => toPet(id)),
    );
    for (const dryRun of [true, false]) {
      await assert.rejects(merge(store, given, { dryRun }), refusal(message));
    }
    assert.equal(await countPets(store.pets), stored.length);
    assert.equal((await store.pets.add(REX)).id, BigInt(stored.length + 1));
  });
}

test('pets.merge › pets with and without ids › adds, corrects and leaves them', async (store, place) => {
  const { pets: others } = await place.openOther();
  const sold = { ...toPet(1), status: 'sold' } as const;
  await merge(store, [sold, toPet(2), toPet(3), toPet(5)]);
  await others.listAsJson({ limit: 9 });
  const tom = toPet(2, 'Tom "\u{1f436}"\n');
  const given = [REX, tom, toPet(1), toPet(5), { ...REX, name: 'Mia' }, toPet(9)];
  const planned = await merge(store, given, { update: true, dryRun: true });
  assert.deepEqual(planned, counts(3, 2, 1));
  assert.deepEqual(await listAll(store), [sold, toPet(2), toPet(3), toPet(5)]);
  const merged = await merge(store, given, { update: true });
  assert.deepEqual(merged, { ...planned, withNewIds: { count: 2, firstId: 10n, lastId: 11n } });
  const all = [toPet(1), tom, toPet(3), toPet(5), toPet(9), toPet(10), toPet(11, 'Mia')];
  assert.deepEqual(await listAll(store), all);
  await nextPoll();
  assert.equal((await others.listAsJson({ limit: 9 })).json, `[${all.map(toPetJson)}]`);
  assert.equal((await others.add(REX)).id, 12n);
});

test('pets.merge › an iteration that fails, or a database that refuses › changes nothing', async (store, place) => {
  await merge(store, [toPet(1)]);
  async function* failing() {
    yield toPet(1, 'Tom');
    yield* fail(1_001);
  }
  const update = { update: true };
  await assert.rejects(store.pets.merge(failing(), update), { message: 'row 7 is wrong' });
  await refuseBad(place.address);
  await assert.rejects(merge(store, [toPet(1, 'Tom'), toPet(2, 'bad')], update));
  assert.deepEqual(await listAll(store), [toPet(1)]);
  const { withNewIds } = await store.pets.merge(repeat(3));
  assert.deepEqual(withNewIds, { count: 3, firstId: 2n, lastId: 4n });
});

test('pets.merge › while it goes on › others add and import, and see all of it or nothing', async (store, place) => {
  const { pets: others } = await place.openOther();
  const seen = new Set<number>();
  let isAdding = true;
  async function* slow(): AsyncGenerator<NewPet> {
    for (let count = 0; count < 3; count += 1) {
      yield* repeat(500, { ...REX, status: 'pending' });
      await others.add({ ...REX, status: 'sold' });
    }
  }
  const adding = store.pets.merge(slow()).finally(() => {
    isAdding = false;
  });
  const importing = others.merge(repeat(1_001));
  while (isAdding) {
    for (const pets of [store.pets, others]) {
      seen.add((await pets.list({ limit: 10_000, status: 'pending' })).pets.length);
    }
    await new Promise(setImmediate);
  }
  assert.deepEqual([(await adding).added, (await importing).added], [1_500, 1_001]);
  assert.deepEqual([...seen.add(1_500)], [0, 1_500]);
  assert.equal(await countPets(others), 2_504);
});

testOnFile('pets.merge › a dry run beside a writer › waits for nothing', async (store, place) => {
  await store.pets.add(REX);
  using writer = new DatabaseSync(place.address.replace(/^sqlite:/, ''));
  async function* given() {
    yield toPet(1, 'Tom');
    yield toPet(2);
    writer.exec('begin immediate');
  }
  const planned = await store.pets.merge(given(), { update: true, dryRun: true });
  assert.deepEqual(planned, counts(1, 1, 0));
});

test('pets.merge › an id that another takes meanwhile › is refused if the pets differ', async (store, place) => {
  const other = await place.openOther();
  async function* given() {
    yield toPet(1, 'Tom');
    await other.pets.add(REX);
  }
  await assert.rejects(store.pets.merge(given()), { message: /^pet 1 differs: / });
});

for (const [what, id] of [
  ['that is corrected', 1],
  ['that is as in the file', 2],
] as const) {
  test(`pets.merge onCorrections › a change of a pet ${what} meanwhile › refuses all, and creates go on`, async (store, place) => {
    const { pets: others } = await place.openOther();
    await merge(store, [toPet(1), toPet(2)]);
    const told: unknown[] = [];
    let after: readonly Pet[] = [];
    const onCorrections: NonNullable<Options>['onCorrections'] = async ({ list, ...counts }) => {
      told.push(counts, ...(await Array.fromAsync(list())).flat());
      await others.add(REX);
      await others.update(toPet(id), toPet(id, 'Mia'));
      after = await listAll(store);
    };
    const sold = { ...toPet(1), status: 'sold' } as const;
    const merging = merge(store, [toPet(7), toPet(2), sold], { update: true, onCorrections });
    await assert.rejects(merging, { message: new RegExp(`^pet ${id} differs: .*"Mia"`) });
    const fields = NEW_PET_FIELDS.map(({ name }) => {
      return { name, changed: Number(name === 'status'), removed: 0, lacking: 0 };
    });
    assert.deepEqual(told, [
      { count: 1, fields },
      { was: toPet(1), is: sold },
    ]);
    assert.deepEqual(await listAll(store), after);
  });
}

test('pets.merge onSame › the first pets of the file, in their order in the store › are told by their first id there', async (store) => {
  const sold = { ...REX, status: 'sold' } as const;
  await merge(store, [toPet(3), ...[REX, sold, REX, REX, sold]]);
  for (const [given, id] of [
    [[REX, REX, sold], 3n],
    [[toPet(3), REX, sold], 4n],
    [[sold, sold], undefined],
    [[toPet(3)], undefined],
  ] as const) {
    for (const dryRun of [true, false]) {
      const told: bigint[] = [];
      await merge(store, given, { dryRun, onSame: (same) => told.push(same) });
      assert.deepEqual(told, id === undefined ? [] : [id]);
    }
  }
});

const samples = () => generatePets(100);
const seed = ({ pets }: Store) => pets.merge(samples(), { onlyFirst: true });

test('pets.merge onlyFirst › from three processes at once › adds exactly these pets once', async (store, place) => {
  const stores = [store, await place.openOther(), await place.openOther()];
  const added = (await Promise.all(stores.map(seed))).map((merged) => merged.added);
  assert.deepEqual(added.toSorted(), [0, 0, 100]);
  const expected = [];
  for await (const pet of samples()) expected.push(pet);
  assert.deepEqual(await listAll(store), expected);
  assert.equal((await store.pets.add(REX)).id, 101n);
});

test('pets.merge onlyFirst › a store whose only pet was removed › adds none', async (store) => {
  await store.pets.add(REX);
  await store.pets.remove([toRange(1)]);
  assert.equal((await seed(store)).added, 0);
  assert.deepEqual(await listAll(store), []);
});

test('pets.merge onlyFirst › after one that the database refused › adds the pets', async ({
  pets,
}, { address }) => {
  await refuseBad(address);
  const first = (name: string) =>
    pets.merge(ReadableStream.from([REX, { ...REX, name }]), { onlyFirst: true });
  await assert.rejects(first('bad'));
  assert.equal((await first('Mia')).added, 2);
});
