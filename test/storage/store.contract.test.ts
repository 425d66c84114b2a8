/** What src/store.ts promises, method by method, on every engine. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { getKeyState, type NewApiKey } from '../../src/api-key.ts';
import { INT64_MAX, INT64_MIN } from '../../src/int64.ts';
import { JsonNumber, parseJson } from '../../src/json.ts';
import { type NewPet, PET_STATUSES, type Pet } from '../../src/pet.ts';
import { openStore } from '../../src/storage/open.ts';
import {
  IDEMPOTENCY_MS,
  type IdempotentRequest,
  type PetQuery,
  type Store,
} from '../../src/store.ts';
import { int64, newPet, status } from '../arbitraries.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { queryOnce } from '../support/postgres-cluster.ts';

interface EngineCase {
  readonly name: string;
  /** Whether a store keeps its data for the next one that is opened at the same address. */
  readonly persists: boolean;
  /** The address of a new store; the folder is removed after the test. */
  readonly create: (folder: string) => Promise<StorePlace>;
}

interface StorePlace {
  readonly address: string;
  readonly drop?: () => Promise<void>;
}

const ENGINES: readonly EngineCase[] = [
  {
    name: 'sqlite file',
    persists: true,
    create: async (folder) => ({ address: `sqlite:${join(folder, 'store.db')}` }),
  },
  {
    name: 'sqlite in memory',
    persists: false,
    create: async () => ({ address: 'sqlite::memory:' }),
  },
  { name: 'postgresql', persists: true, create: createTestDatabase },
];

interface TestStore extends AsyncDisposable {
  readonly store: Store;
  readonly folder: string;
  readonly address: string;
  /** Opens the same address once more. */
  readonly openAgain: () => Promise<Store>;
}

async function openNew(engine: EngineCase): Promise<TestStore> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-'));
  const { address, drop } = await engine.create(folder);
  const opened: Store[] = [];
  const openAgain = async () => {
    const store = await openStore(address, { create: true });
    opened.push(store);
    return store;
  };
  return {
    store: await openAgain(),
    folder,
    address,
    openAgain,
    async [Symbol.asyncDispose]() {
      for (const store of opened) await store.close();
      await drop?.();
      await rm(folder, { recursive: true });
    },
  };
}

const REX: NewPet = { name: 'Rex', categoryId: 1n };

async function* repeat(count: number, pet: NewPet = REX): AsyncGenerator<NewPet> {
  for (let index = 0; index < count; index += 1) yield { ...pet, name: `${pet.name} ${index}` };
}

async function* fail(count: number): AsyncGenerator<NewPet> {
  yield* repeat(count);
  throw new Error('row 7 is wrong');
}

async function listAll(store: Store, query: Partial<PetQuery> = {}): Promise<Pet[]> {
  const pets: Pet[] = [];
  let after = query.after;
  do {
    const page = await store.pets.list({
      limit: 1_000,
      ...query,
      ...(after === undefined ? {} : { after }),
    });
    pets.push(...page.pets);
    after = page.next;
  } while (after !== undefined);
  return pets;
}

/** Any query of a store with up to that many pets. */
function queryOf(count: number): fc.Arbitrary<PetQuery> {
  const place = fc.oneof(fc.bigInt(0n, BigInt(count)), int64);
  return fc.record(
    { limit: fc.integer({ min: 1, max: count + 1 }), status, after: place },
    { requiredKeys: ['limit'] },
  );
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

function createNewKey(more: Partial<NewApiKey> = {}): NewApiKey {
  return {
    digest: randomBytes(32),
    name: 'ci',
    environment: 'staging',
    createdAt: 1_790_000_000_000,
    ...more,
  };
}

const REQUEST: IdempotentRequest = { keyId: 7, key: 'order-1', at: 1_790_000_000_000 };
const REUSED = { name: 'PetstoreError', code: 'idempotency_key_reused' };

/** Runs a statement on a connection of its own. */
async function runBeside(address: string, sql: string): Promise<readonly unknown[]> {
  if (address.startsWith('postgres')) return (await queryOnce(address, sql)).rows;
  const connection = new DatabaseSync(address.replace(/^sqlite:/, ''));
  try {
    return connection.prepare(sql).all();
  } finally {
    connection.close();
  }
}

/** Makes the database refuse every pet with the name `bad`. */
async function refuseBad(address: string): Promise<void> {
  if (address.startsWith('postgres')) {
    await runBeside(
      address,
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger refuse before insert on pets for each row when (new.name = 'bad')
        execute function refuse()`,
    );
  } else {
    await runBeside(
      address,
      `create trigger refuse before insert on pets when new.name = 'bad'
        begin select raise(abort, 'no'); end`,
    );
  }
}

/** Adds idempotency keys of that time. */
async function addRequests(store: Store, count: number, at: number): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, index) => `${at}-${index}`);
  await Promise.all(keys.map((key) => store.pets.addOnce(REX, { ...REQUEST, key, at })));
  return keys;
}

const NO_SUCH_KEY = { name: 'PetstoreError', code: 'not_found', message: 'there is no key 99' };

for (const engine of ENGINES) {
  const on = `on ${engine.name}`;

  describe(`pets ${on}`, () => {
    test(`pets.add ${on} › any pet › is found and listed exactly as it was given`, async () => {
      await using opened = await openNew(engine);
      const { pets } = opened.store;
      await fc.assert(
        fc.asyncProperty(newPet, async (given) => {
          const added = await pets.add(given);
          assert.deepEqual(added, { id: added.id, ...given });
          assert.deepEqual(await pets.find(added.id), added);
          assert.deepEqual(await pets.list({ limit: 1, after: added.id - 1n }), { pets: [added] });
        }),
      );
    });

    for (const categoryId of [INT64_MIN, INT64_MAX, 2n ** 53n + 1n, 0n]) {
      test(`pets.add ${on} › the categoryId ${categoryId} › comes back to the last digit`, async () => {
        await using opened = await openNew(engine);
        const { id } = await opened.store.pets.add({ name: 'Rex', categoryId });
        assert.equal((await opened.store.pets.find(id))?.categoryId, categoryId);
      });
    }

    test(`pets.add ${on} › no status › is a member that stays absent`, async () => {
      await using opened = await openNew(engine);
      const added = await opened.store.pets.add(REX);
      const found = await opened.store.pets.find(added.id);
      for (const pet of [added, found ?? {}]) {
        assert.deepEqual(Object.keys(pet).sort(), ['categoryId', 'id', 'name']);
      }
    });

    test(`pets.add ${on} › a hundred at once › get the ids from 1 to 100`, async () => {
      await using opened = await openNew(engine);
      const adding = Array.from({ length: 100 }, () => opened.store.pets.add(REX));
      const ids = (await Promise.all(adding)).map(({ id }) => Number(id));
      assert.deepEqual(
        ids.toSorted((one, other) => one - other),
        Array.from({ length: 100 }, (_, index) => index + 1),
      );
    });

    test(`pets.add ${on} › many of several turns at once › each is its own pet, the ids in their order`, async () => {
      await using opened = await openNew(engine);
      const { pets } = opened.store;
      const adding: Promise<Pet>[] = [];
      for (let turn = 0; turn < 5; turn += 1) {
        for await (const pet of repeat(60, { ...REX, name: `Rex ${turn}` }))
          adding.push(pets.add(pet));
        await new Promise(setImmediate);
      }
      const added = await Promise.all(adding);
      assert.deepEqual(
        added.map(({ id, name }) => [id, name]),
        added.map((_, place) => [BigInt(place + 1), `Rex ${Math.floor(place / 60)} ${place % 60}`]),
      );
      assert.deepEqual(await listAll(opened.store), added);
    });

    test(`pets.addOnce ${on} › the same request again › is the pet that it added`, async () => {
      await using opened = await openNew(engine);
      const { pets } = opened.store;
      await pets.add(REX);
      for (const given of [REX, { ...REX, status: 'sold' }] as const) {
        const request = { ...REQUEST, key: String(given.status) };
        const added = await pets.addOnce(given, request);
        assert.deepEqual(added, { id: added.id, ...given });
        await pets.add(REX);
        assert.deepEqual(await pets.addOnce(given, { ...request, at: request.at + 1 }), added);
      }
      assert.equal((await listAll(opened.store)).length, 5);
    });

    test(`pets.addOnce ${on} › fifty at once, and others among adds › add one pet each`, async () => {
      await using opened = await openNew(engine);
      const stores = [opened.store, engine.persists ? await opened.openAgain() : opened.store];
      const addOnce = (index: number, key: string): Promise<Pet> => {
        const { pets } = stores[index % 2] ?? opened.store;
        return pets.addOnce({ ...REX, name: key }, { ...REQUEST, key });
      };
      const same = Array.from({ length: 50 }, (_, index) => addOnce(index, 'same'));
      const others = Array.from({ length: 20 }, async (_, index) => {
        const [own] = await Promise.all([addOnce(index, `${index}`), opened.store.pets.add(REX)]);
        assert.deepEqual(await addOnce(index + 1, `${index}`), own);
        return own.name;
      });
      assert.equal(new Set((await Promise.all(same)).map(({ id }) => id)).size, 1);
      const names = (await Promise.all(others)).concat('same', Array(20).fill('Rex'));
      const listed = (await listAll(opened.store)).map(({ name }) => name);
      assert.deepEqual(listed.sort(), names.sort());
    });

    test(`pets.addOnce ${on} › another pet › is idempotency_key_reused and adds nothing`, async () => {
      await using opened = await openNew(engine);
      const { pets } = opened.store;
      const added = await pets.addOnce({ ...REX, status: 'sold' }, REQUEST);
      for (const other of [
        REX,
        { ...REX, status: 'pending' },
        { ...REX, status: 'sold', name: 'Rex ' },
        { ...REX, status: 'sold', categoryId: 2n ** 53n + 1n },
      ] as const) {
        await assert.rejects(pets.addOnce(other, REQUEST), REUSED);
      }
      assert.deepEqual(await listAll(opened.store), [added]);
    });

    test(`pets.addOnce ${on} › the same name of another key, or in another case › is another request`, async () => {
      await using opened = await openNew(engine);
      const { pets } = opened.store;
      for (const request of [REQUEST, { ...REQUEST, keyId: 8 }, { ...REQUEST, key: 'ORDER-1' }]) {
        await pets.addOnce({ ...REX, name: request.key }, request);
      }
      assert.equal((await listAll(opened.store)).length, 3);
    });

    test(`pets.addOnce ${on} › after 24 hours and not before › is a new request`, async () => {
      await using opened = await openNew(engine);
      const { pets } = opened.store;
      const added = await pets.addOnce(REX, REQUEST);
      const before = { ...REQUEST, at: REQUEST.at + IDEMPOTENCY_MS - 1 };
      assert.deepEqual(await pets.addOnce(REX, before), added);
      const after = { ...REQUEST, at: REQUEST.at + IDEMPOTENCY_MS };
      const other = await pets.addOnce({ ...REX, name: 'Tom' }, after);
      assert.deepEqual(other, { ...REX, id: added.id + 1n, name: 'Tom' });
      await assert.rejects(pets.addOnce(REX, after), REUSED);
    });

    test(`pets.addOnce ${on} › many names again at once after 24 hours › each adds one, and each stays`, async () => {
      await using opened = await openNew(engine);
      const stores = [opened.store, engine.persists ? await opened.openAgain() : opened.store];
      const keys = await addRequests(opened.store, 20, 1);
      const addAll = () =>
        Promise.all(
          keys.map((key, index) => {
            const { pets } = stores[index % 2] ?? opened.store;
            return pets.addOnce({ ...REX, name: key }, { ...REQUEST, key, at: 1 + IDEMPOTENCY_MS });
          }),
        );
      const added = await addAll();
      assert.deepEqual(await addAll(), added);
      assert.equal((await listAll(opened.store)).length, 40);
    });

    test(`pets.find ${on} › an id that no pet has › is undefined`, async () => {
      await using opened = await openNew(engine);
      const { id } = await opened.store.pets.add(REX);
      for (const other of [id + 1n, 0n, -1n, INT64_MIN, INT64_MAX]) {
        assert.equal(await opened.store.pets.find(other), undefined);
      }
    });

    test(`pets.list ${on} › an empty store › is an empty last page`, async () => {
      await using opened = await openNew(engine);
      assert.deepEqual(await opened.store.pets.list({ limit: 20 }), { pets: [] });
      assert.deepEqual(await opened.store.pets.list({ limit: 1, status: 'sold' }), { pets: [] });
    });

    test(`pets.list ${on} › any limit, status and place › is that part, and next leads on`, async () => {
      await using opened = await openNew(engine);
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

    test(`pets.list ${on} › pets added on the way › next meets each of the old ones once`, async () => {
      await using opened = await openNew(engine);
      const { pets } = opened.store;
      await pets.addAll(repeat(10));
      const met: bigint[] = [];
      let next: bigint | undefined = 0n;
      while (next !== undefined && met.length < 15) {
        const page = await pets.list({ limit: 2, after: next });
        met.push(...page.pets.map(({ id }) => id));
        await pets.add(REX);
        next = page.next;
      }
      assert.deepEqual(met.slice(0, 10), [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n, 10n]);
      assert.equal(new Set(met).size, met.length);
    });

    test(`pets.listAsJson ${on} › an empty store › is an empty last page`, async () => {
      await using opened = await openNew(engine);
      const { pets } = opened.store;
      assert.deepEqual(await pets.listAsJson({ limit: 20 }), { json: '[]' });
      assert.deepEqual(await pets.listAsJson({ limit: 1, status: 'sold', after: 7n }), {
        json: '[]',
      });
    });

    test(`pets.listAsJson ${on} › any pets, limit, status and place › says the same as pets.list`, async () => {
      const pets = fc.array(newPet, { maxLength: 20 });
      await fc.assert(
        fc.asyncProperty(pets, fc.array(queryOf(20)), async (given, queries) => {
          await using opened = await openNew(engine);
          await opened.store.pets.addAll(ReadableStream.from(given));
          // The second time it may come from the page cache.
          for (const query of [...queries, ...queries]) await assertSamePage(opened.store, query);
        }),
        { numRuns: 50, endOnFailure: true },
      );
    });

    for (const status of [undefined, 'sold'] as const) {
      test(`pets.listAsJson ${on} › exactly as many pets as the limit, status ${status} › is the last page until one more is added`, async () => {
        await using opened = await openNew(engine);
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
      await using opened = await openNew(engine);
      const { pets } = opened.store;
      const expected: bigint[] = [];
      for (let count = 0; count < 50; count += 1) {
        expected.push((await pets.add(REX)).id);
        assert.deepEqual(await listAsJsonIds(opened.store, { limit: 1_000 }), expected);
      }
    });

    test(`pets.listAsJson ${on} › right after addAll › has the new pets`, async () => {
      await using opened = await openNew(engine);
      for (let count = 1; count <= 10; count += 1) {
        await opened.store.pets.addAll(repeat(5));
        assert.equal((await listAsJsonIds(opened.store, { limit: 1_000 })).length, 5 * count);
      }
    });

    test(`pets.addAll ${on} › many pets › get ascending ids in their order`, async () => {
      await using opened = await openNew(engine);
      await opened.store.pets.add(REX);
      assert.equal(
        await opened.store.pets.addAll(repeat(2_500, { ...REX, status: 'sold' })),
        2_500,
      );
      const added = await listAll(opened.store, { status: 'sold' });
      const names = Array.from({ length: 2_500 }, (_, index) => `Rex ${index}`);
      assert.deepEqual(
        added.map(({ name }) => name),
        names,
      );
    });

    test(`pets.addAll ${on} › any pets › are found exactly as they were given`, async () => {
      await using opened = await openNew(engine);
      const given = fc.sample(newPet, 200);
      await opened.store.pets.addAll(ReadableStream.from(given));
      assert.deepEqual(
        (await listAll(opened.store)).map(({ id: _, ...pet }) => pet),
        given.map((pet) => ({ ...pet })),
      );
    });

    test(`pets.addAll ${on} › nothing › is 0`, async () => {
      await using opened = await openNew(engine);
      assert.equal(await opened.store.pets.addAll(repeat(0)), 0);
    });

    test(`pets.addAll ${on} › an iteration that fails › adds none and throws what it threw`, async () => {
      await using opened = await openNew(engine);
      await opened.store.pets.add(REX);
      await assert.rejects(opened.store.pets.addAll(fail(2_500)), { message: 'row 7 is wrong' });
      assert.equal((await listAll(opened.store)).length, 1);
      assert.equal(await opened.store.pets.addAll(repeat(3)), 3);
    });

    test(`pets.addAll ${on} › read meanwhile › is seen whole or not at all`, async () => {
      await using opened = await openNew(engine);
      const reader = engine.persists ? await opened.openAgain() : opened.store;
      const seen = new Set<number>();
      let isAdding = true;
      async function* slow(): AsyncGenerator<NewPet> {
        for (let count = 0; count < 5; count += 1) {
          yield* repeat(1_000);
          await new Promise(setImmediate);
        }
      }
      const adding = opened.store.pets.addAll(slow()).finally(() => {
        isAdding = false;
      });
      while (isAdding) {
        seen.add((await reader.pets.list({ limit: 10_000 })).pets.length);
        await new Promise(setImmediate);
      }
      await adding;
      seen.add((await reader.pets.list({ limit: 10_000 })).pets.length);
      assert.deepEqual([...seen], [0, 5_000]);
    });

    test(`pets.addAll ${on} › while its iteration goes on › others add`, async () => {
      await using opened = await openNew(engine);
      const other = engine.persists ? await opened.openAgain() : opened.store;
      async function* slow(): AsyncGenerator<NewPet> {
        for (let count = 0; count < 3; count += 1) {
          yield* repeat(1_500, { ...REX, status: 'pending' });
          await other.pets.add({ ...REX, status: 'sold' });
        }
      }
      assert.equal(await opened.store.pets.addAll(slow()), 4_500);
      assert.equal((await listAll(other, { status: 'sold' })).length, 3);
      assert.equal((await listAll(other, { status: 'pending' })).length, 4_500);
    });

    test(`pets.addAll ${on} › two at once › are added both`, async () => {
      await using opened = await openNew(engine);
      const { pets } = opened.store;
      await Promise.all([pets.addAll(repeat(1_500)), pets.addAll(repeat(1_500))]);
      assert.equal((await listAll(opened.store)).length, 3_000);
    });
  });

  describe(`keys ${on}`, () => {
    test(`keys.add ${on} › with and without an expiry › is found by its digest as it was given`, async () => {
      await using opened = await openNew(engine);
      const { keys } = opened.store;
      const forEver = createNewKey({ name: 'für immer' });
      const limited = createNewKey({ environment: 'production', expiresAt: 8.64e15 });
      for (const [index, { digest, ...rest }] of [forEver, limited].entries()) {
        const added = await keys.add({ digest, ...rest });
        assert.deepEqual(added, { id: index + 1, ...rest });
        assert.deepEqual(await keys.find(digest), added);
      }
    });

    test(`keys.find ${on} › a digest that no key has › is undefined`, async () => {
      await using opened = await openNew(engine);
      const { digest } = createNewKey();
      await opened.store.keys.add(createNewKey());
      assert.equal(await opened.store.keys.find(digest), undefined);
    });

    test(`keys.list ${on} › expired and revoked ones too › is all keys by id`, async () => {
      await using opened = await openNew(engine);
      const { keys } = opened.store;
      assert.deepEqual(await keys.list(), []);
      const expired = await keys.add(createNewKey({ expiresAt: 1 }));
      const revoked = await keys.add(createNewKey());
      const active = await keys.add(createNewKey());
      await keys.revoke(revoked.id, 5);
      assert.deepEqual(await keys.list(), [expired, { ...revoked, revokedAt: 5 }, active]);
    });

    test(`keys.touch ${on} › a key › keeps the time of its last use`, async () => {
      await using opened = await openNew(engine);
      const { keys } = opened.store;
      const newKey = createNewKey();
      const { id } = await keys.add(newKey);
      const other = await keys.add(createNewKey());
      for (const lastUsedAt of [7, 8]) {
        await keys.touch(id, lastUsedAt);
        assert.equal((await keys.find(newKey.digest))?.lastUsedAt, lastUsedAt);
      }
      assert.deepEqual((await keys.list())[1], other);
    });

    test(`keys.revoke ${on} › twice › keeps the first time`, async () => {
      await using opened = await openNew(engine);
      const { keys } = opened.store;
      const newKey = createNewKey();
      const { id } = await keys.add(newKey);
      await keys.revoke(id, 5);
      await keys.revoke(id, 6);
      assert.equal((await keys.find(newKey.digest))?.revokedAt, 5);
    });

    test(`keys.revoke ${on} › an id that no key has › is not_found`, async () => {
      await using opened = await openNew(engine);
      const key = await opened.store.keys.add(createNewKey());
      await assert.rejects(opened.store.keys.revoke(99, 5), NO_SUCH_KEY);
      assert.deepEqual(await opened.store.keys.list(), [key]);
    });

    for (const [what, expiresAt, expected] of [
      ['that never expires', undefined, 1_000],
      ['that would expire later', 2_000, 1_000],
      ['that expires sooner by itself', 500, 500],
    ] as const) {
      test(`keys.rotate ${on} › a key ${what} › lets it expire at ${expected}`, async () => {
        await using opened = await openNew(engine);
        const { keys } = opened.store;
        const old = await keys.add(createNewKey(expiresAt === undefined ? {} : { expiresAt }));
        const bystander = await keys.add(createNewKey());
        const { digest, ...rest } = createNewKey({ name: 'new', createdAt: 100, expiresAt: 9_000 });
        const added = await keys.rotate(old.id, { digest, ...rest }, 1_000);
        assert.deepEqual(added, { id: 3, ...rest });
        assert.deepEqual(await keys.find(digest), added);
        const rotated = { ...old, expiresAt: expected, rotatedAt: rest.createdAt };
        assert.deepEqual(await keys.list(), [rotated, bystander, added]);
      });
    }

    test(`keys.rotate ${on} › a key of any state › succeeds as getKeyState says`, async () => {
      await using opened = await openNew(engine);
      const { keys } = opened.store;
      const now = 1_000;
      for (const expiresAt of [undefined, now - 1, now, now + 1]) {
        for (const revokedAt of [undefined, now - 1]) {
          const more = expiresAt === undefined ? {} : { expiresAt };
          const { id, ...old } = await keys.add(createNewKey({ createdAt: 1, ...more }));
          if (revokedAt !== undefined) await keys.revoke(id, revokedAt);
          const state = getKeyState({ ...old, ...(revokedAt && { revokedAt }) }, now);
          const rotated = await keys.rotate(id, createNewKey({ createdAt: now }), now).then(
            () => true,
            ({ code }) => code !== 'not_found',
          );
          assert.equal(rotated, state === 'active', `${state} ${expiresAt} ${revokedAt}`);
        }
      }
    });

    test(`keys.rotate ${on} › a key that is not there, revoked or rotated › is not_found and adds nothing`, async () => {
      await using opened = await openNew(engine);
      const { keys } = opened.store;
      await keys.add(createNewKey());
      await keys.rotate(1, createNewKey(), 1_000);
      const { id: revoked } = await keys.add(createNewKey());
      await keys.revoke(revoked, 5);
      const before = await keys.list();
      for (const id of [99, 1, revoked]) {
        await assert.rejects(keys.rotate(id, createNewKey(), 500), {
          ...{ name: 'PetstoreError', code: 'not_found' },
          message: `there is no key ${id} that can be rotated`,
        });
      }
      assert.deepEqual(await keys.list(), before);
    });
  });

  describe(`store ${on}`, () => {
    test(`store.check ${on} › an open store › resolves`, async () => {
      await using opened = await openNew(engine);
      await opened.store.check();
    });

    test(`store.backup ${on} › to a new file › is a store by itself with everything in it`, async () => {
      await using opened = await openNew(engine);
      const { store, folder } = opened;
      await store.pets.addAll(ReadableStream.from(fc.sample(newPet, 50)));
      const newKey = createNewKey({ expiresAt: 9_000 });
      const { id } = await store.keys.add(newKey);
      await store.keys.touch(id, 6);
      await store.keys.revoke(id, 7);
      const file = join(folder, 'backup.db');
      await store.backup(file);
      const atBackup = { pets: await listAll(store), keys: await store.keys.list() };
      await store.pets.add(REX);

      const copy = await openStore(`sqlite:${file}`, { create: false });
      try {
        assert.deepEqual({ pets: await listAll(copy), keys: await copy.keys.list() }, atBackup);
        assert.equal((await copy.pets.add(REX)).id, 51n);
        assert.deepEqual(await copy.keys.find(newKey.digest), atBackup.keys[0]);
      } finally {
        await copy.close();
      }
    });

    test(`store.backup ${on} › to a file that is there › is bad_request and leaves it`, async () => {
      await using opened = await openNew(engine);
      const file = join(opened.folder, 'there.db');
      await writeFile(file, '');
      await assert.rejects(opened.store.backup(file), {
        name: 'PetstoreError',
        code: 'bad_request',
        message: `${file} exists already`,
      });
    });

    test(`store.backup ${on} › to a folder that is not there › is bad_request`, async () => {
      await using opened = await openNew(engine);
      const file = join(opened.folder, 'no', 'backup.db');
      await assert.rejects(opened.store.backup(file), {
        name: 'PetstoreError',
        code: 'bad_request',
      });
    });
  });

  if (!engine.persists) continue;

  describe(`two stores ${on}`, () => {
    test(`store ${on} › opened again › has what was there and uses no id twice`, async () => {
      await using opened = await openNew(engine);
      const first = await opened.store.pets.add(REX);
      await assert.rejects(opened.store.pets.addAll(fail(10)));
      const key = await opened.store.keys.add(createNewKey());
      const again = await opened.openAgain();
      assert.deepEqual(await listAll(again), [first]);
      assert.deepEqual(await again.keys.list(), [key]);
      const more = [await again.pets.add(REX), await opened.store.pets.add(REX)];
      assert.ok(more.every(({ id }) => id > first.id));
      assert.notEqual(more[0]?.id, more[1]?.id);
    });

    test(`store.close ${on} › then opened again › has what was there`, async () => {
      await using opened = await openNew(engine);
      const first = await openStore(opened.address, { create: false });
      const added = await first.pets.add(REX);
      await first.close();
      const second = await openStore(opened.address, { create: false });
      const found = await second.pets.find(added.id);
      await second.close();
      assert.deepEqual(found, added);
    });

    test(`store.close ${on} › with writes under way › ends each, and keeps what was acknowledged`, async () => {
      await using opened = await openNew(engine);
      const store = await openStore(opened.address, { create: false });
      await store.pets.add(REX);
      const adding = Array.from({ length: 50 }, (_, index) =>
        index % 2 === 0
          ? store.pets.add(REX)
          : store.pets.addOnce(REX, { ...REQUEST, key: String(index) }),
      );
      const settling = Promise.allSettled(adding);
      await new Promise(setImmediate);
      await store.close();
      const kept = new Set((await listAll(opened.store)).map(({ id }) => id));
      for (const one of await settling) {
        if (one.status === 'fulfilled') assert.ok(kept.has(one.value.id));
        else assert.equal(one.reason.code, 'unavailable');
      }
    });

    test(`pets.add ${on} › one of many at once that the database refuses › fails alone`, async () => {
      await using opened = await openNew(engine);
      const { pets } = opened.store;
      await refuseBad(opened.address);
      const names = Array.from({ length: 50 }, (_, index) => (index % 20 === 7 ? 'bad' : 'good'));
      const settled = await Promise.allSettled(names.map((name) => pets.add({ ...REX, name })));
      assert.deepEqual(
        settled.map(({ status }) => (status === 'fulfilled' ? 'good' : 'bad')),
        names,
      );
      const added = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      const byId = added.toSorted((one, other) => Number(one.id - other.id));
      assert.deepEqual(await listAll(opened.store), byId);
    });

    test(`pets.addOnce ${on} › a create that failed › keeps nothing, and the others of its commit stand`, async () => {
      await using opened = await openNew(engine);
      const { pets } = opened.store;
      await refuseBad(opened.address);
      const settled = await Promise.allSettled([
        pets.addOnce(REX, { ...REQUEST, key: 'one' }),
        pets.addOnce({ ...REX, name: 'bad' }, REQUEST),
        pets.addOnce(REX, { ...REQUEST, key: 'two' }),
      ]);
      const statuses = settled.map(({ status }) => status);
      assert.deepEqual(statuses, ['fulfilled', 'rejected', 'fulfilled']);
      const added = await pets.addOnce(REX, REQUEST);
      assert.deepEqual(await pets.addOnce(REX, REQUEST), added);
      assert.equal((await listAll(opened.store)).length, 3);
    });

    test(`pets.addOnce ${on} › in another store, also of a copy of it › is the same pet`, async () => {
      await using opened = await openNew(engine);
      const added = await opened.store.pets.addOnce(REX, REQUEST);
      const again = await opened.openAgain();
      assert.deepEqual(await again.pets.addOnce(REX, REQUEST), added);
      const file = join(opened.folder, 'backup.db');
      await opened.store.backup(file);
      const copy = await openStore(`sqlite:${file}`, { create: false });
      try {
        assert.deepEqual(await copy.pets.addOnce(REX, REQUEST), added);
        await assert.rejects(copy.pets.addOnce({ ...REX, name: 'Tom' }, REQUEST), REUSED);
      } finally {
        await copy.close();
      }
    });

    test(`pets.addOnce ${on} › after 25 old requests › takes away ten of them each time, the oldest first`, async () => {
      await using opened = await openNew(engine);
      const { store, address } = opened;
      await addRequests(store, 15, 2);
      await addRequests(store, 10, 1);
      const left: unknown[] = [];
      for (const key of ['a', 'b', 'c', 'd']) {
        await store.pets.addOnce(REX, { ...REQUEST, key, at: 2 + IDEMPOTENCY_MS });
        const rows = await runBeside(
          address,
          'select created_at as at from idempotency_keys where created_at <= 2',
        );
        left.push(rows.map((row) => Number(Object(row).at)));
      }
      assert.deepEqual(left, [Array(15).fill(2), Array(5).fill(2), [], []]);
    });

    test(`pets ${on} › added in one › is there in the other`, async () => {
      await using opened = await openNew(engine);
      const other = await opened.openAgain();
      const added = await opened.store.pets.add(REX);
      assert.deepEqual(await other.pets.find(added.id), added);
      assert.deepEqual(await other.pets.list({ limit: 1 }), { pets: [added] });
    });

    test(`pets.listAsJson ${on} › added in one or in both › is there in the other by the next turn`, async () => {
      await using opened = await openNew(engine);
      const stores = [opened.store, await opened.openAgain()];
      const query = { limit: 1_000 };
      const expected: bigint[] = [];
      for (let round = 0; round < 200; round += 1) {
        // Both have read in this turn, and have a page in the cache that is about to be old.
        for (const store of stores) {
          assert.deepEqual(await listAsJsonIds(store, query), expected);
        }
        const writers = stores.filter((_, index) => round % 3 !== index);
        for (const { pets } of writers) expected.push((await pets.add(REX)).id);
        await new Promise(setImmediate);
      }
    });

    test(`keys ${on} › revoked in one › is so in the other within a second`, async () => {
      await using opened = await openNew(engine);
      const other = await opened.openAgain();
      const newKey = createNewKey();
      const { id } = await opened.store.keys.add(newKey);
      assert.equal((await other.keys.find(newKey.digest))?.revokedAt, undefined);
      await opened.store.keys.revoke(id, 5);
      const deadline = performance.now() + 1_000;
      let found = await other.keys.find(newKey.digest);
      while (found?.revokedAt === undefined && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        found = await other.keys.find(newKey.digest);
      }
      assert.equal(found?.revokedAt, 5);
    });
  });
}
