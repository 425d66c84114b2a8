/** Which reads on PostgreSQL share a query, and that no answer is older than an acknowledged write. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import type { PetQuery } from '../../src/pet-query.ts';
import type { Store } from '../../src/store.ts';
import { holdInSession, testOnPostgres } from '../support/empty-database.ts';
import { createNewKey, REX } from './contract/data.ts';

const test = testOnPostgres();

/** What the reads of the turn resolve to, and how many queries they took. */
async function readTurn<T>(store: Store, reads: readonly Promise<T>[]) {
  const before = store.counts.reads;
  const settled = await Promise.allSettled(reads);
  return { settled, queries: store.counts.reads - before };
}

test('batches on postgresql › pets and lists of one turn › are one query of each kind', async (pets, _database, store) => {
  const ids = [2n, 99n, 1n, 2n, -(2n ** 63n), 2n ** 63n - 1n];
  const finding: Promise<unknown>[] = ids.map((id) => pets.find(id));
  finding.push(Promise.resolve().then(() => pets.find(1n)));
  assert.equal((await readTurn(store, finding)).queries, 1);
  const queries: readonly PetQuery[] = [
    { limit: 1 },
    { limit: 1, status: 'sold' },
    { limit: 1 },
    { limit: 2, after: 1n },
    { limit: 5, status: 'pending' },
  ];
  const listing = queries.map((query) => pets.listAsJson(query));
  assert.equal((await readTurn(store, listing)).queries, 2);
  // So many lists are read 50 at a time.
  const many = Array.from({ length: 120 }, (_, index) =>
    pets.listAsJson({ limit: 1, after: BigInt(index) }),
  );
  assert.equal((await readTurn(store, many)).queries, 3);
});

test('batches on postgresql › keys that may be invented › share one connection, and hold up nothing else', async (pets, database, store) => {
  const { keys } = store;
  const newKey = createNewKey();
  await keys.add(newKey);
  const digests = Array.from({ length: 1_000 }, () => randomBytes(32));
  const other = await holdInSession(database, 'lock table api_keys');
  const finding = Promise.allSettled(digests.map((digest) => keys.find(digest)));
  for (let turn = 0; turn < digests.length; turn += 1) await nextTurn();
  assert.equal(store.countConnections?.().used, 1);
  const again = keys.find(newKey.digest, true);
  assert.equal(await pets.find(1n), undefined);
  await other.end('rollback');
  assert.equal((await again)?.id, 1);
  const found = (await finding).filter((each) => each.status === 'rejected' || each.value);
  assert.deepEqual(found, []);
});

test('batches on postgresql › a query that fails › fails all of its turn, and the next has answers', async (pets, database, store) => {
  const rex = await pets.add(REX);
  await database.query('alter table pets rename to away');
  const { settled, queries } = await readTurn<unknown>(store, [
    ...[1n, 2n].map((id) => pets.find(id)),
    ...[1, 1].map((limit) => pets.listAsJson({ limit })),
  ]);
  assert.ok(settled.every(({ status }) => status === 'rejected'));
  assert.equal(queries, 2);
  await database.query('alter table away rename to pets');
  assert.deepEqual(await pets.find(1n), rex);
  assert.deepEqual((await pets.list({ limit: 1 })).pets, [rex]);
});

for (const [phase, enter] of [
  ['after a turn', nextTurn],
  ['after a timer', () => setTimeout(1)],
] as const) {
  test(`batches on postgresql › a write that is acknowledged in the turn of an earlier read, ${phase} › is seen by the next`, async (pets, database) => {
    const writer = await database.connect();
    // Opens enough connections, so that the reads do not wait for one.
    await Promise.all(Array.from({ length: 3 }, () => pets.list({ limit: 1 })));
    await enter();
    const earlier = [pets.listAsJson({ limit: 9 }), pets.find(1n)] as const;
    const seen = writer
      .query(`select pg_sleep(0.05); insert into pets values (1, 'Rex', 1)`)
      .then(() => Promise.all([pets.listAsJson({ limit: 9 }), pets.find(1n)]));
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
