/** What src/store.ts promises of `pets.find`, `pets.list` and `pets.listAsJson` of the store, on every engine. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { INT64_MAX, INT64_MIN } from '../../../src/int64.ts';
import { JsonNumber, parseJson } from '../../../src/json.ts';
import { PET_STATUSES, type Pet } from '../../../src/pet.ts';
import type { PetQuery, Store } from '../../../src/store.ts';
import { int64, newPet, status } from '../../arbitraries.ts';
import { REX, repeat } from './data.ts';
import { ENGINES, openNewStore } from './engines.ts';

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

for (const engine of ENGINES) {
  const on = `on ${engine.name}`;

  describe(`pets.find, pets.list and pets.listAsJson ${on}`, () => {
    test(`pets.find ${on} › several pets, again and again › is each of them`, async () => {
      await using opened = await openNewStore(engine);
      const { pets } = opened.store;
      const added = [await pets.add(REX), await pets.add({ ...REX, name: 'Mia' })];
      for (let round = 0; round < 2; round += 1) {
        for (const pet of added) assert.deepEqual(await pets.find(pet.id), pet);
        assert.equal(await pets.find(99n), undefined);
      }
    });

    test(`pets.find ${on} › an id that no pet has › is undefined`, async () => {
      await using opened = await openNewStore(engine);
      const { id } = await opened.store.pets.add(REX);
      for (const other of [id + 1n, 0n, -1n, INT64_MIN, INT64_MAX]) {
        assert.equal(await opened.store.pets.find(other), undefined);
      }
    });

    test(`pets.list ${on} › an empty store › is an empty last page`, async () => {
      await using opened = await openNewStore(engine);
      assert.deepEqual(await opened.store.pets.list({ limit: 20 }), { pets: [] });
      assert.deepEqual(await opened.store.pets.list({ limit: 1, status: 'sold' }), { pets: [] });
    });

    test(`pets.list ${on} › any limit, status and place › is that part, and next leads on`, async () => {
      await using opened = await openNewStore(engine);
      const all: Pet[] = [];
      for (const [index, status] of [...PET_STATUSES, undefined, ...PET_STATUSES].entries()) {
        for (let count = 0; count <= index; count += 1) {
          const given = { ...REX, ...(status !== undefined && { status }) };
          all.push(await opened.store.pets.add(given));
        }
      }
      const place = fc.oneof(fc.bigInt(-1n, BigInt(all.length)), fc.constant(INT64_MAX));
      const query = fc.record(
        {
          limit: fc.integer({ min: 1, max: 40 }),
          status: fc.constantFrom(...PET_STATUSES),
          after: place,
        },
        { requiredKeys: ['limit'] },
      );
      await fc.assert(
        fc.asyncProperty(query, async ({ limit, status, after = 0n }) => {
          const rest = all.filter(
            (pet) => pet.id > after && (status === undefined || pet.status === status),
          );
          const pets = rest.slice(0, limit);
          const asked = { limit, after, ...(status !== undefined && { status }) };
          assert.deepEqual(
            await opened.store.pets.list(asked),
            rest.length > limit ? { pets, next: pets.at(-1)?.id } : { pets },
          );
        }),
      );
    });

    test(`pets.listAsJson ${on} › an empty store › is an empty last page`, async () => {
      await using opened = await openNewStore(engine);
      const { pets } = opened.store;
      assert.deepEqual(await pets.listAsJson({ limit: 20 }), { json: '[]' });
      assert.deepEqual(await pets.listAsJson({ limit: 1, status: 'sold', after: 7n }), {
        json: '[]',
      });
    });

    test(`pets.listAsJson ${on} › any pets, limit, status and place › says the same as pets.list`, async () => {
      await using opened = await openNewStore(engine);
      const given = fc.array(newPet, { maxLength: GIVEN_MAX });
      let count = 0n;
      await fc.assert(
        fc.asyncProperty(given, fc.array(queryOf(GIVEN_MAX)), async (more, queries) => {
          const first = count;
          count += BigInt((await opened.store.pets.addAll(ReadableStream.from(more))).count);
          const moved = queries.map((query) => moveTo(query, first));
          // The second time it may come from the page cache.
          for (const query of [...moved, ...moved]) await assertSamePage(opened.store, query);
        }),
        { numRuns: 50, endOnFailure: true },
      );
    });

    test(`pets.listAsJson ${on} › lists of one turn that differ in one part › are each its own page`, async () => {
      await using opened = await openNewStore(engine);
      for (const status of [...PET_STATUSES, ...PET_STATUSES]) {
        await opened.store.pets.add({ ...REX, status });
      }
      const expected: readonly (readonly [PetQuery, readonly bigint[]])[] = [
        [{ limit: 1 }, [1n]],
        [{ limit: 2 }, [1n, 2n]],
        [{ limit: 1, after: 1n }, [2n]],
        ...PET_STATUSES.map((status, at) => [{ limit: 1, status }, [BigInt(at + 1)]] as const),
        [{ limit: 2, status: 'sold' }, [3n, 6n]],
        [{ limit: 1, status: 'sold', after: 3n }, [6n]],
      ];
      const listing = expected.map(([query]) => listAsJsonIds(opened.store, query));
      assert.deepEqual(
        await Promise.all(listing),
        expected.map(([, ids]) => ids),
      );
    });

    for (const status of [undefined, 'sold'] as const) {
      test(`pets.listAsJson ${on} › exactly as many pets as the limit, status ${status} › is the last page until one more is added`, async () => {
        await using opened = await openNewStore(engine);
        const { pets } = opened.store;
        const pet = { ...REX, ...(status !== undefined && { status }) };
        const query = { limit: 3, ...(status !== undefined && { status }) };
        await pets.addAll(repeat(3, pet));
        const { json, ...next } = await pets.listAsJson(query);
        assert.deepEqual(next, {});
        if (status !== undefined) await pets.add({ ...REX, status: 'pending' });
        assert.deepEqual(await pets.listAsJson(query), { json });
        await pets.add(pet);
        assert.deepEqual(await pets.listAsJson(query), { json, next: 3n });
      });
    }

    test(`pets.listAsJson ${on} › right after an add › has the new pet`, async () => {
      await using opened = await openNewStore(engine);
      const { pets } = opened.store;
      const expected: bigint[] = [];
      for (let count = 0; count < 50; count += 1) {
        expected.push((await pets.add(REX)).id);
        assert.deepEqual(await listAsJsonIds(opened.store, { limit: 1_000 }), expected);
      }
    });

    if (!engine.persists) return;

    test(`pets.listAsJson ${on} › added in one or in both › is there in the other by the next turn`, async () => {
      await using opened = await openNewStore(engine);
      const stores = [opened.store, await opened.openAgain()];
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
  });
}
