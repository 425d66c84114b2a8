/** What src/store.ts promises of `pets.find`, `pets.list` and `pets.listAsJson` of the store, on every engine. */

import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { INT64_MAX, INT64_MIN } from '../../../src/int64.ts';
import { JsonNumber, parseJson } from '../../../src/json.ts';
import { NEW_PET_FIELDS, type NewPet, PET_STATUSES, type Pet } from '../../../src/pet.ts';
import { type Schema, toFieldValue } from '../../../src/pet-field.ts';
import { LIST_QUERY, PET_FILTERS, type PetQuery } from '../../../src/pet-query.ts';
import type { Store } from '../../../src/store.ts';
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
  const expected = listed.map((pet) =>
    Object.entries(pet).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? new JsonNumber(String(value)) : value,
    ]),
  );
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
      count += BigInt((await store.pets.merge(ReadableStream.from(more))).added);
      const moved = queries.map((query) => moveTo(query, first));
      // The second time it may come from the page cache.
      for (const query of [...moved, ...moved]) await assertSamePage(store, query);
    }),
    { numRuns: 50, endOnFailure: true },
  );
});

/** Each combination of the values, one of each column. */
function combine<Value>(columns: readonly (readonly Value[])[]): Value[][] {
  return columns.reduce<Value[][]>(
    (rows, column) => rows.flatMap((row) => column.map((value) => [...row, value])),
    [[]],
  );
}

const toObjects = <Value>(names: readonly string[], rows: readonly (readonly Value[])[]) =>
  rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])));

/** Texts of a field, or of a member of a query. */
const toTexts = ({ schema }: { readonly schema: Schema }): readonly string[] =>
  Array.isArray(schema.enum) ? schema.enum : schema.type === 'integer' ? ['1', '2'] : ['a', 'b'];

const PETS = combine(
  NEW_PET_FIELDS.map((field) => {
    const values = toTexts(field).map((text) => field.parse(toFieldValue(field, text)));
    return field.optional ? [...values, undefined] : values;
  }),
);
const QUERIES = combine([
  ...LIST_QUERY.map((member) => {
    const values = toTexts(member).map((text) => member.parse(text));
    return member.schema.default === undefined ? [...values, undefined] : values;
  }),
  [undefined, 5n],
]);
const MEMBERS = [...LIST_QUERY.map(({ name }) => name), 'after'];

test('pets.listAsJson › all queries of one turn › are each its own page, and leads to all pets after it', async (store) => {
  const fields = NEW_PET_FIELDS.map(({ name }) => name);
  const pets = toObjects(fields, PETS) as unknown as NewPet[];
  await store.pets.merge(ReadableStream.from(pets));
  const queries = toObjects(MEMBERS, QUERIES) as unknown as PetQuery[];
  const pages = await Promise.all(queries.map((query) => store.pets.listAsJson(query)));
  for (const [index, query] of queries.entries()) {
    assert.deepEqual(pages[index], await store.pets.listAsJson(query));
    await assertSamePage(store, query);
    const all = await listAsJsonIds(store, { ...query, limit: 1_000 });
    const met: bigint[] = [];
    for (let after = query.after, hasMore = true; hasMore; hasMore = after !== undefined) {
      met.push(...(await listAsJsonIds(store, { ...query, after })));
      after = (await store.pets.listAsJson({ ...query, after })).next;
    }
    assert.deepEqual(met, all, inspect(query));
  }
  for (const query of queries.filter(({ after }) => after === undefined)) {
    const kept = pets.filter((pet) =>
      PET_FILTERS.every(({ name }) => (query[name] ?? pet[name]) === pet[name]),
    );
    const listed = await listAsJsonIds(store, { ...query, limit: 1_000 });
    assert.equal(listed.length, kept.length, `the first page of ${inspect(query)}`);
  }
  for (const [column, member] of MEMBERS.entries()) {
    const alike = Map.groupBy(QUERIES.keys(), (index) => String(QUERIES[index]?.with(column, '')));
    const isUsed = [...alike.values()].some(
      (indexes) => new Set(indexes.map((index) => pages[index]?.json)).size > 1,
    );
    assert.ok(isUsed, `the member ${member} of a query changes no page`);
  }
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
