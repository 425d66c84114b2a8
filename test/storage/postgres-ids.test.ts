/** The ids on PostgreSQL: what a cursor may pass, what is beside creates, and sequences gone wrong. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { INT64_MAX } from '../../src/int64.ts';
import type { Row } from '../../src/storage/engine.ts';
import { STORE_LIMITS } from '../../src/storage/limits.ts';
import {
  ANNOUNCE,
  type MarkedPage,
  readMarked,
  settle,
} from '../../src/storage/postgres/settled-mark.ts';
import type { PetPage, PetStore, Store } from '../../src/store.ts';
import { countPets } from '../support/count-pets.ts';
import {
  ADD,
  type EmptyDatabase,
  holdInSession,
  testOnPostgres,
} from '../support/empty-database.ts';
import { endSessions, NO_SESSIONS } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { createNewKey, REX, repeat } from './contract/data.ts';
import { refuseBad } from './contract/engines.ts';

const UNAVAILABLE = { name: 'PetstoreError', code: 'unavailable' };
const UNDER_WAY = { ...UNAVAILABLE, message: 'an earlier create or import is still under way' };

const test = testOnPostgres();

const HOLD = 'select pg_advisory_xact_lock(1)';
/** In a function: waits for the session that holds. No time limit of a lock ends this wait. */
const WAIT = 'while not pg_try_advisory_xact_lock(1) loop perform pg_sleep(0.01); end loop;';

async function listIds(pets: PetStore, limit: number, after?: bigint) {
  const page = await pets.list({ limit, after });
  const { json, next } = await pets.listAsJson({ limit, after });
  assert.deepEqual(next, page.next);
  assert.deepEqual(
    JSON.parse(json).map(({ id }: { id: number }) => BigInt(id)),
    page.pets.map(({ id }) => id),
  );
  return { ids: page.pets.map(({ id }) => Number(id)), next };
}

describe('cursors', { skip: NO_SESSIONS, concurrency: 4 }, () => {
  test('cursors › beside a create that was not committed yet › end before its id, or are refused', async (pets, database) => {
    const sold = { ...REX, status: 'sold' } as const;
    await pets.merge(repeat(3, sold));
    await using other = await holdInSession(database, ADD);
    for (let count = 0; count < 3; count += 1) await pets.add(sold);
    assert.equal((await pets.list({ limit: 5, status: 'sold' })).next, 3n);
    assert.deepEqual(await listIds(pets, 3), { ids: [1, 2, 3], next: 3n });
    assert.deepEqual(await listIds(pets, 5), { ids: [1, 2, 3], next: 3n });
    await assert.rejects(pets.list({ limit: 1, after: 3n }), UNDER_WAY);
    await assert.rejects(pets.listAsJson({ limit: 1, after: 3n }), UNDER_WAY);
    // Without a further page there is no cursor.
    assert.deepEqual(await listIds(pets, 9), { ids: [1, 2, 3, 5, 6, 7], next: undefined });
    await other.end('commit');
    assert.deepEqual(await listIds(pets, 5), { ids: [1, 2, 3, 4, 5], next: 5n });
  });

  test('cursors › after a server that had later ids › are settled anew', async (pets, database) => {
    await pets.merge(repeat(9));
    assert.equal((await pets.list({ limit: 8 })).next, 8n);
    // As a standby that lacks the last pets.
    await database.query("delete from pets where id > 3; select setval('pets_id', 3)");
    await endSessions(database.address);
    await using _other = await holdInSession(database, ADD);
    // A busy process hears late that its sessions were ended.
    const succeeds = (call: Promise<unknown>) => call.then(Boolean, () => false);
    await until(() => succeeds(pets.list({ limit: 1 })));
    await until(() => succeeds(pets.add(REX)));
    await pets.add(REX);
    await assert.rejects(pets.list({ limit: 1, after: 3n }), UNDER_WAY);
  });

  test('cursors › beside a create that ends while the page is read › have a mark from before', async (pets, database) => {
    await using other = await holdInSession(database, ADD);
    await pets.add(REX);
    await database.query(`create sequence reads; create function read() returns boolean language plpgsql as $$
      begin
        if nextval('reads') = 2 then ${WAIT} end if;
        return true;
      end $$`);
    await using held = await holdInSession(database, HOLD);
    const connection = await database.connect();
    const statement = { sql: 'select id from pets where read()', values: [] };
    const reading = readMarked(connection, statement, (rows) => [
      { pets: [], next: rows.at(-1)?.[0] as bigint },
    ]);
    await database.untilWaiting(1);
    await other.end('commit');
    await held.end('commit');
    assert.deepEqual(await reading, [{ page: { pets: [], next: 2n }, mark: 0n }]);
  });

  test('cursors › of a slow database, to which pets come while it reads › are refused for its slowness', async (_pets, database) => {
    const connection = await database.connect();
    // Each page has a pet that came after the mark.
    const sql = "insert into pets values (nextval('pets_id'), 'late', 1) returning id";
    const toPages = ([row]: Row[]) => [{ pets: [], next: row?.[0] as bigint }];
    const settling = settle(async () => {
      const [page] = await readMarked(connection, { sql, values: [] }, toPages);
      return page as MarkedPage;
    });
    await assert.rejects(settling, {
      ...UNAVAILABLE,
      message: 'the database is slow: more pets came while it read a list',
    });
  });

  test('cursors › of a page that is read too slowly, beside an open create › are refused for the create', async () => {
    const readPage = () =>
      setTimeout(STORE_LIMITS.SETTLE_MS_MAX.value, { page: { pets: [], next: 1n }, mark: 0n });
    await assert.rejects(settle(readPage), UNDER_WAY);
  });

  test('cursors › beside an open transaction of another program › wait for nothing', async (pets, database) => {
    await pets.merge(repeat(3));
    await using _other = await holdInSession(database, "update pets set name = 'Tom' where id = 1");
    // A page that waits to its limit ends before this id.
    assert.equal((await pets.list({ limit: 2 })).next, 2n);
  });
});

describe('imports', { skip: NO_SESSIONS, concurrency: 4 }, () => {
  /** An insert of a pet with such a name waits until a session beside it has ended. */
  const SLOW_INSERTS = `create function wait() returns trigger language plpgsql as $$
      begin
        if exists (select from added where name like 'slow%') then ${WAIT} end if;
        return null;
      end $$;
    create trigger wait after insert on pets referencing new table as added
      for each statement execute function wait()`;
  const slow = { ...REX, name: 'slow' };

  const addFive = (pets: PetStore) => Promise.all(Array.from({ length: 5 }, () => pets.add(REX)));

  /** Imports that wait in their insert, and what lets them go on. */
  async function startSlow(database: EmptyDatabase, stores: Store['pets'][]) {
    await database.query(SLOW_INSERTS);
    const held = await holdInSession(database, HOLD);
    const importing = stores.map((pets) => pets.merge(repeat(5, slow)));
    await database.untilWaiting(stores.length);
    return { held, importing: Promise.all(importing) };
  }

  test('imports › two at once, beside creates › let others create, and get a block of ids each', async (pets, database) => {
    const { pets: others } = await database.open();
    const { held, importing } = await startSlow(database, [pets, others]);
    // A create that waits for an insert fails, since the insert waits for the end of the creates.
    const ids = (await addFive(pets)).map(({ id }) => id);
    await held.end('commit');
    for (const { withNewIds } of await importing) {
      const { count, firstId, lastId } = withNewIds;
      const within = ids.filter((id) => id >= firstId && id <= lastId);
      assert.deepEqual([count, lastId - firstId, within], [5, 4n, []]);
    }
    assert.equal(await countPets(pets), ids.length + 10);
  });

  test('imports › one that keeps ids beside one with new ids › waits for it, and creates do not', async (pets, database) => {
    const { pets: others } = await database.open();
    const { held, importing } = await startSlow(database, [pets]);
    const keeping = others.merge(ReadableStream.from([{ ...slow, name: 'slow 2', id: 3n }]));
    await database.untilWaiting(2);
    await addFive(pets);
    await held.end('commit');
    await importing;
    assert.equal((await keeping).unchanged, 1);
  });

  test('imports › one that fails, one that needs more ids than are left, and one that takes the last › leave gaps, or none', async (pets, database) => {
    await refuseBad(database.address);
    await assert.rejects(pets.merge(ReadableStream.from([REX, REX, { ...REX, name: 'bad' }])));
    assert.equal((await pets.add(REX)).id, 4n);
    await database.query(`select setval('pets_id', ${INT64_MAX - 3n})`);
    await assert.rejects(pets.merge(repeat(4)), { ...UNAVAILABLE, message: /no id is left/ });
    const { firstId, lastId } = (await pets.merge(repeat(3))).withNewIds;
    assert.deepEqual([firstId, lastId], [INT64_MAX - 2n, INT64_MAX]);
  });

  test('imports › undone beside four clients › take no pet of a client away, and no follower misses one', async (pets) => {
    const created = new Set<bigint>();
    const followed = new Set<bigint>();
    let isDone = false;
    const create = async () => {
      while (!isDone) created.add((await pets.add(REX)).id);
    };
    async function importAndUndo() {
      for (let round = 0; round < 3; round += 1) {
        const { firstId, lastId } = (await pets.merge(repeat(1_001))).withNewIds;
        assert.equal((await pets.remove([{ first: firstId, last: lastId }])).length, 1_001);
      }
    }
    const undoing = importAndUndo().finally(() => {
      isDone = true;
    });
    const working = Promise.all([undoing, create(), create(), create(), create()]);
    for (let after = 0n, isLast = false; !isLast; ) {
      isLast = isDone && (await working).length > 0;
      for (let next: bigint | undefined = after; next !== undefined; ) {
        after = next;
        const page: PetPage = await pets.list({ limit: 100, after }).catch(() => ({ pets: [] }));
        for (const { id } of page.pets) followed.add(id);
        next = page.next;
      }
    }
    const kept = new Set((await pets.list({ limit: 1_000_000 })).pets.map(({ id }) => id));
    assert.deepEqual([...created.difference(kept), ...created.difference(followed)], []);
  });

  test('imports that keep ids › while creates go on › never meet an id of theirs', async (pets) => {
    let isDone = false;
    const creating = [
      async () => (await pets.add(REX)).id,
      async () => pets.addOnce(REX, { keyId: 1, key: `${Math.random()}` }),
    ].map(async (create) => {
      while (!isDone) await create();
    });
    for (let round = 0; round < 5; round += 1) {
      const [last = 0n] = (await pets.list({ limit: 1_000 })).pets.map(({ id }) => id).slice(-1);
      const given = Array.from({ length: 50 }, (_, index) => ({
        ...REX,
        id: last + 1_000n + BigInt(index),
      }));
      assert.equal((await pets.merge(ReadableStream.from(given))).added, 50);
    }
    isDone = true;
    await Promise.all(creating);
  });
});

test('a sequence › that was set back › fails a start and each create; the printed remedy takes no id of other work', async (pets, database, store) => {
  await pets.merge(repeat(3));
  await store.keys.add(createNewKey());
  await store.keys.add(createNewKey());
  await database.query("select setval('pets_id', 1), setval('api_keys_id', 1)");
  const { message } = await database.open({ isServed: true }).catch((error) => error);
  const inUse = { ...UNAVAILABLE, message };
  await assert.rejects(pets.add(REX), inUse);
  await assert.rejects(store.keys.add(createNewKey()), inUse);
  await assert.rejects(pets.merge(repeat(1)), inUse);
  const remedies = message.match(
    /(?<=^the database gives ids that are in use: set search_path = .*)select setval[^;]+/g,
  );
  assert.equal(remedies.length, 2);
  const follow = () => Promise.all(remedies.map((remedy: string) => database.query(remedy)));
  await follow();
  await using other = await holdInSession(database, `${ANNOUNCE}; ${ADD}`);
  let isDone = false;
  const beside = [1, 2, 3, 4].map(async (client) => {
    while (!isDone) {
      await pets.add(REX);
      if (client === 1) await store.keys.add(createNewKey());
      if (client === 2) await pets.merge(repeat(9));
    }
  });
  const following = follow();
  await other.end('commit');
  for (let count = 0; count < 9; count += 1) await following.then(follow);
  isDone = true;
  await Promise.all(beside);
  // Its next id is the last one that is in use.
  await database.query("select setval('pets_id', max(id), false) from pets");
  await assert.rejects(database.open({ isServed: true }), /gives ids that are in use/);
  await follow();
  const [last] = await database.query('select max(id) from pets');
  assert.equal((await pets.add(REX)).id, BigInt(String(last?.max)) + 1n);
});

test('a sequence › that is missing › ends the start in one line', async (_pets, database) => {
  await database.query('drop sequence pets_id');
  await assert.rejects(database.open({ isServed: true }), {
    ...UNAVAILABLE,
    message:
      'the database lacks a table or column that this program needs: restore it from a backup',
  });
});
