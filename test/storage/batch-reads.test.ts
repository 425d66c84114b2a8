/** Which reads share a query, and that no answer is older than an acknowledged write. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import type { Engine } from '../../src/storage/engine.ts';
import { createPetStore } from '../../src/storage/pet-store.ts';
import { openPostgres } from '../../src/storage/postgres/engine.ts';
import { createPetQueries } from '../../src/storage/postgres/pet-queries.ts';
import { disposable } from '../support/disposable.ts';
import { createTestDatabase, PATIENT } from '../support/postgres.ts';
import { queryOnce } from '../support/postgres-cluster.ts';

const REX = { name: 'Rex', categoryId: 1n };

/** A store of pets whose queries are counted, with their values. */
async function openCounted() {
  const stack = new AsyncDisposableStack();
  const { address } = stack.use(await createTestDatabase());
  const engine = stack.use(disposable(await openPostgres(address, { create: true, ...PATIENT })));
  const reads: string[] = [];
  const petQueries = createPetQueries((sql, ...values) => {
    reads.push(String(values));
    return engine.read(sql, ...values);
  });
  const counted: Pick<Engine, 'petQueries' | 'insertPet'> = {
    petQueries,
    insertPet: (...args) => engine.insertPet(...args),
  };
  return {
    address,
    pets: createPetStore(counted as Engine),
    reads,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describe('batches on postgresql', () => {
  test('batches on postgresql › pets of one turn, unknown and twice › are one query and each is the right one', async () => {
    await using store = await openCounted();
    const [rex, tom] = [await store.pets.add(REX), await store.pets.add({ ...REX, name: 'Tom' })];
    const ids = [2n, 99n, 1n, 2n, -(2n ** 63n), 2n ** 63n - 1n];
    const found = ids.map((id) => store.pets.find(id));
    const later = Promise.resolve().then(() => store.pets.find(1n));
    assert.deepEqual(await Promise.all(found), [tom, undefined, rex, tom, undefined, undefined]);
    assert.deepEqual(await later, rex);
    assert.equal(store.reads.length, 1);
  });

  test('batches on postgresql › lists of one turn › are one query, and another one with a status', async () => {
    await using store = await openCounted();
    for (const status of ['sold', 'pending', 'sold'] as const) {
      await store.pets.add({ ...REX, status });
    }
    const queries = [
      { limit: 1 },
      { limit: 1, status: 'sold' },
      { limit: 1 },
      { limit: 2, after: 1n },
      { limit: 5, status: 'pending' },
      { limit: 5, after: 9n },
    ] as const;
    const pages = await Promise.all(queries.map((query) => store.pets.listAsJson(query)));
    const json = (...ids: number[]) =>
      `[${ids.map((id) => `{"id":${id},"name":"Rex","categoryId":1,"status":"${id === 2 ? 'pending' : 'sold'}"}`)}]`;
    assert.deepEqual(pages, [
      { json: json(1), next: 1n },
      { json: json(1), next: 1n },
      { json: json(1), next: 1n },
      { json: json(2, 3) },
      { json: json(2) },
      { json: json() },
    ]);
    assert.equal(store.reads.length, 2);
  });

  test('batches on postgresql › 120 different lists of one turn › are read 50 at a time', async () => {
    await using store = await openCounted();
    const lists = Array.from({ length: 120 }, (_, index) =>
      store.pets.listAsJson({ limit: 1, after: BigInt(index) }),
    );
    await Promise.all(lists);
    const sizes = store.reads.map((asked) => JSON.parse(asked).length);
    assert.deepEqual(sizes, [50, 50, 20]);
  });

  test('batches on postgresql › a query that fails › fails all of its turn, and the next has answers', async () => {
    await using store = await openCounted();
    const rex = await store.pets.add(REX);
    await queryOnce(store.address, 'alter table pets rename to away');
    const settled = await Promise.allSettled([
      ...[1n, 2n].map((id) => store.pets.find(id)),
      ...[1, 1].map((limit) => store.pets.listAsJson({ limit })),
    ]);
    assert.ok(settled.every(({ status }) => status === 'rejected'));
    assert.equal(store.reads.length, 2);
    await queryOnce(store.address, 'alter table away rename to pets');
    assert.deepEqual(await store.pets.find(1n), rex);
    assert.deepEqual((await store.pets.list({ limit: 1 })).pets, [rex]);
  });

  for (const [phase, enter] of [
    ['after a turn', nextTurn],
    ['after a timer', () => new Promise((resolve) => setTimeout(resolve, 1))],
  ] as const) {
    test(`batches on postgresql › a write that is acknowledged in the turn of an earlier read, ${phase} › is seen by the next`, async () => {
      await using store = await openCounted();
      const client = new pg.Client({ connectionString: store.address });
      await using writer = disposable(Object.assign(client, { close: () => client.end() }));
      await writer.connect();
      // Opens enough connections, so that the reads do not wait for one.
      await Promise.all(Array.from({ length: 3 }, () => store.pets.list({ limit: 1 })));
      await enter();
      const earlier = [store.pets.listAsJson({ limit: 9 }), store.pets.find(1n)] as const;
      const seen = writer
        .query(`select pg_sleep(0.05); insert into pets values (1, 'Rex', 1)`)
        .then(() => Promise.all([store.pets.listAsJson({ limit: 9 }), store.pets.find(1n)]));
      // By then all is sent; it is answered before this turn continues.
      for (let tick = 0; tick < 50; tick += 1) await new Promise<void>(process.nextTick);
      block();
      await Promise.all(earlier);
      const [page, pet] = await seen;
      assert.equal(page.json, '[{"id":1,"name":"Rex","categoryId":1}]');
      assert.deepEqual(pet, { id: 1n, ...REX });
    });
  }

  /** Blocks the event loop for longer than the database takes. */
  function block(): void {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 80);
  }
});
