/** What src/store.ts promises of `pets.find`, `pets.list` and `pets.listAsJson` of the store, on every engine. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { INT64_MAX, INT64_MIN } from '../../../src/int64.ts';
import { JsonNumber, parseJson } from '../../../src/json.ts';
import { PET_STATUSES, type Pet } from '../../../src/pet.ts';
import type { PetQuery, Store } from '../../../src/store.ts';
import { int64, newPet, status } from '../../arbitraries.ts';
import { REX } from './data.ts';
import { test } from './engines.ts';

const GIVEN_MAX = 20;

/** Any query of a store with up to that many pets. */
function queryOf(count: number): fc.Arbitrary<PetQuery> {
  const place = fc.oneof(fc.bigInt(0n, BigInt(count)), int64);
  return fc.record(
    { limit: fc.integer({ min: 1, max: count + 1 }), status, after: place },
    { requiredKeys: ['limit'] },
  );
}

/** The same query of the pets that came after the first ones: an `after` among those given is moved. */
function moveTo(query: PetQuery, first: bigint): PetQuery {
  const { after } = query;
  const isMoved = after !== undefined && after >= 0n && after <= GIVEN_MAX;
  return isMoved ? { ...query, after: first + after } : query;
}

/** Asserts that the page as JSON text has exactly the content of the page of pets. */
async function assertSamePage({ pets }: Store, query: PetQuery): Promise<void> {
  const { pets: listed, ...next } = await pets.list(query);
  const expected = listed.map(({ id, name, categoryId, status }) => [
    ['id', new JsonNumber(String(id))],
    ['name', name],
    ['categoryId', new JsonNumber(String(categoryId))],
    ...(status === undefined ? [] : [['status', status]]),
  ]);
  const { json, ...jsonNext } = await pets.listAsJson(query);
  assert.deepEqual((parseJson(json) as object[]).map(Object.entries), expected);
  assert.deepEqual(jsonNext, next);
  assert.doesNotMatch(json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""'), /\s/);
}

/** The ids in the page as JSON text. */
async function listAsJsonIds({ pets }: Store, query: PetQuery): Promise<bigint[]> {
  const listed = parseJson((await pets.listAsJson(query)).json) as { id: JsonNumber }[];
  return listed.map(({ id }) => BigInt(id.digits));
}

test('pets.find › several pets and ids that no pet has, some twice, again and again › is each of them', async ({
  pets,
}) => {
  const [rex, mia] = [await pets.add(REX), await pets.add({ ...REX, name: 'Mia' })];
  for (let round = 0; round < 2; round += 1) {
    const ids = [2n, 3n, 1n, 2n, 0n, -1n, INT64_MIN, INT64_MAX];
    const found = await Promise.all(ids.map((id) => pets.find(id)));
    assert.deepEqual(found, [mia, undefined, rex, mia, ...Array(4)]);
  }
});

test('pets.list, pets.listAsJson › an empty store › is an empty last page', async ({ pets }) => {
  for (const query of [{ limit: 20 }, { limit: 1, status: 'sold', after: 7n }] as const) {
    assert.deepEqual(await pets.list(query), { pets: [] });
    assert.deepEqual(await pets.listAsJson(query), { json: '[]' });
  }
});

test('pets.list › any limit, status and place › is that part, and next leads on', async (store) => {
  const all: Pet[] = [];
  for (const [index, status] of [...PET_STATUSES, undefined, ...PET_STATUSES].entries()) {
    const given = { ...REX, ...(status !== undefined && { status }) };
    for (let count = 0; count <= index; count += 1) all.push(await store.pets.add(given));
  }
  await fc.assert(
    fc.asyncProperty(queryOf(all.length), async (query) => {
      const { limit, status, after = 0n } = query;
      const rest = all.filter(
        (pet) => pet.id > after && (status === undefined || pet.status === status),
      );
      const pets = rest.slice(0, limit);
      assert.deepEqual(
        await store.pets.list(query),
        rest.length > limit ? { pets, next: pets.at(-1)?.id } : { pets },
      );
    }),
  );
});

test('pets.listAsJson › any pets, limit, status and place › says the same as pets.list', async (store) => {
  const given = fc.array(newPet, { maxLength: GIVEN_MAX });
  let count = 0n;
  await fc.assert(
    fc.asyncProperty(given, fc.array(queryOf(GIVEN_MAX)), async (more, queries) => {
      const first = count;
      count += BigInt((await store.pets.addAll(ReadableStream.from(more))).count);
      const moved = queries.map((query) => moveTo(query, first));
      // The second time it may come from the page cache.
      for (const query of [...moved, ...moved]) await assertSamePage(store, query);
    }),
    { numRuns: 50, endOnFailure: true },
  );
});

test('pets.listAsJson › lists of one turn that differ in one part › are each its own page', async (store) => {
  for (const status of [...PET_STATUSES, ...PET_STATUSES]) {
    await store.pets.add({ ...REX, status });
  }
  const expected: readonly (readonly [PetQuery, readonly bigint[]])[] = [
    [{ limit: 1 }, [1n]],
    [{ limit: 1 }, [1n]],
    [{ limit: 2 }, [1n, 2n]],
    [{ limit: 1, after: 1n }, [2n]],
    ...PET_STATUSES.map((status, at) => [{ limit: 1, status }, [BigInt(at + 1)]] as const),
    [{ limit: 2, status: 'sold' }, [3n, 6n]],
    [{ limit: 1, status: 'sold', after: 3n }, [6n]],
  ];
  const listing = expected.map(([query]) => listAsJsonIds(store, query));
  assert.deepEqual(
    await Promise.all(listing),
    expected.map(([, ids]) => ids),
  );
});

test('pets.listAsJson › added in one or in both › is there in the other by the next turn', async (store, place) => {
  const stores = [store, await place.openOther()];
  const query = { limit: 1_000 };
  const expected: bigint[] = [];
  for (let round = 0; round < 60; round += 1) {
    // Both have read in this turn, and have a page in the cache that is about to be old.
    for (const store of stores) {
      assert.deepEqual(await listAsJsonIds(store, query), expected);
    }
    const writers = stores.filter((_, index) => round % 3 !== index);
    for (const { pets } of writers) expected.push((await pets.add(REX)).id);
    await new Promise(setImmediate);
  }
});
