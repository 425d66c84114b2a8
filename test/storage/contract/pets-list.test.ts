/** What src/store.ts promises of `pets.find`, `pets.list` and `pets.listAsJson` of the store, on every engine. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { INT64_MAX, INT64_MIN } from '../../../src/int64.ts';
import { JsonNumber, parseJson } from '../../../src/json.ts';
import { NEW_PET_FIELDS, type NewPet, type Pet, toPetJson } from '../../../src/pet.ts';
import { LIST_QUERY, PET_FILTERS, type PetQuery } from '../../../src/pet-query.ts';
import type { Store } from '../../../src/store.ts';
import { FIELD_VALUES, int64, newPet } from '../../arbitraries.ts';
import { combine, REX, sampleField } from './data.ts';
import { test } from './engines.ts';

/** Any query of a store with up to that many pets. */
function queryOf(count: number): fc.Arbitrary<PetQuery> {
  const place = fc.oneof(fc.bigInt(0n, BigInt(count)), int64);
  const filters = PET_FILTERS.map(({ name }) => [name, FIELD_VALUES[name]] as const);
  return fc.record(
    {
      ...(Object.fromEntries(filters) as Pick<typeof FIELD_VALUES, (typeof filters)[number][0]>),
      ...{ limit: fc.integer({ min: 1, max: count + 1 }), after: place },
    },
    { requiredKeys: ['limit'] },
  );
}

/** The page of such a store. */
function toPage(all: readonly Pet[], query: PetQuery) {
  const { limit, after = 0n } = query;
  const rest = all.filter(
    (pet) =>
      pet.id > after && PET_FILTERS.every(({ name }) => (query[name] ?? pet[name]) === pet[name]),
  );
  const pets = rest.slice(0, limit);
  return rest.length > limit ? { pets, next: pets.at(-1)?.id } : { pets };
}

/** Asserts that the store lists this page, and that the page as JSON text has exactly its content. */
async function assertPage(store: Store, query: PetQuery, page: ReturnType<typeof toPage>) {
  assert.deepEqual(await store.pets.list(query), page);
  const { pets, ...next } = page;
  const expected = pets.map((pet) =>
    Object.entries(pet).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? new JsonNumber(String(value)) : value,
    ]),
  );
  const { json, ...jsonNext } = await store.pets.listAsJson(query);
  assert.deepEqual((parseJson(json) as object[]).map(Object.entries), expected);
  assert.deepEqual(jsonNext, next);
  assert.doesNotMatch(json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""'), /\s/);
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

test('pets.list, pets.listAsJson › any pets, limit, filters and place › are that part, and next leads on', async (store) => {
  const given = fc.sample(newPet, 50);
  await store.pets.merge(ReadableStream.from(given));
  const all = given.map((pet, index) => ({ id: BigInt(index + 1), ...pet }));
  await fc.assert(
    fc.asyncProperty(queryOf(all.length), async (query) => {
      // The second time it may come from the page cache.
      for (const _ of ['read', 'again']) await assertPage(store, query, toPage(all, query));
    }),
    { numRuns: 50 },
  );
});

const PETS = combine(
  NEW_PET_FIELDS.map(({ name, optional }) => [
    name,
    [...sampleField(name), ...(optional ? [undefined] : [])],
  ]),
) as NewPet[];
const QUERIES = combine([
  ...LIST_QUERY.map(({ name, schema, parse }) => {
    if (name in FIELD_VALUES)
      return [name, [...sampleField(name as keyof NewPet), undefined]] as const;
    const texts: readonly string[] = Array.isArray(schema.enum) ? schema.enum : ['1', '2'];
    const absent = schema.default === undefined ? [undefined] : [];
    return [name, [...texts.map(parse), ...absent]] as const;
  }),
  ['after', [undefined, 5n]],
]) as PetQuery[];

test('pets.listAsJson › all queries of one turn › are each its own page', async ({ pets }) => {
  await pets.merge(ReadableStream.from(PETS));
  const all = PETS.map((pet, index) => ({ id: BigInt(index + 1), ...pet }));
  const pages = await Promise.all(QUERIES.map((query) => pets.listAsJson(query)));
  for (const [index, query] of QUERIES.entries()) {
    const { pets: listed, ...next } = toPage(all, query);
    const expected = { json: `[${listed.map(toPetJson)}]`, ...next };
    assert.deepEqual([pages[index], await pets.listAsJson(query)], [expected, expected]);
  }
});

test('pets.listAsJson › added in one or in both › is there in the other by the next turn', async (store, place) => {
  const stores = [store, await place.openOther()];
  const expected: Pet[] = [];
  for (let round = 0; round < 12; round += 1) {
    // Both have read in this turn, and have a page in the cache that is about to be old.
    for (const { pets } of stores) {
      const { json } = await pets.listAsJson({ limit: 1_000 });
      assert.equal(json, `[${expected.map(toPetJson)}]`);
    }
    const writers = stores.filter((_, index) => round % 3 !== index);
    for (const { pets } of writers) expected.push(await pets.add(REX));
    await new Promise(setImmediate);
  }
});
