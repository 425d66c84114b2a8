/** The ids on PostgreSQL: what a cursor may pass, what is beside creates, and sequences gone wrong. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Connection } from '../../src/storage/postgres/connection.ts';
import { parseHosts } from '../../src/storage/postgres/hosts.ts';
import { readMarked } from '../../src/storage/postgres/settled-mark.ts';
import type { PetStore } from '../../src/store.ts';
import { countPets } from '../support/count-pets.ts';
import { holdInSession, testOnPostgres } from '../support/empty-database.ts';
import { endSessions, NO_SESSIONS } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { createNewKey, REX, repeat } from './contract/data.ts';

const UNAVAILABLE = { name: 'PetstoreError', code: 'unavailable' };
const UNDER_WAY = { ...UNAVAILABLE, message: 'an earlier create or import is still under way' };

const test = testOnPostgres();

/** Takes the next id as a create does, with the lock that announces it. */
const ADD = `select pg_advisory_xact_lock_shared(cast(cast('pets_id' as regclass) as int),
    cast(case when is_called then last_value else 0 end as int)) from pets_id;
  insert into pets values (nextval('pets_id'), 'late', 1)`;

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
    await pets.list({ limit: 1 }).catch(() => undefined);
    for (let count = 0; count < 2; count += 1) await pets.add(REX).catch(() => undefined);
    await pets.add(REX);
    await pets.add(REX);
    await assert.rejects(pets.list({ limit: 1, after: 3n }), UNDER_WAY);
  });

  test('cursors › beside a create that ends while the page is read › have a mark from before', async (pets, database) => {
    await using other = await holdInSession(database, ADD);
    await pets.add(REX);
    const connection = new Connection(parseHosts(`${database.address}?sslmode=disable`), {});
    await connection.connect();
    let reads = 0;
    const reading = readMarked(
      connection,
      { sql: 'select id from pets where pg_sleep(?) is not null', values: [0.5] },
      (rows) => {
        reads += 1;
        return [{ pets: [], next: rows.at(-1)?.[0] as bigint }];
      },
    );
    const sleeping =
      "select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()";
    await until(async () => reads === 1 && (await database.query(sleeping)).length === 1);
    await other.end('commit');
    assert.deepEqual(await reading, [{ page: { pets: [], next: 2n }, mark: 0n }]);
    await connection.end();
  });

  test('cursors › beside an open transaction of another program › wait for nothing', async (pets, database) => {
    await pets.merge(repeat(3));
    await using _other = await holdInSession(database, "update pets set name = 'Tom' where id = 1");
    // A page that waits to its limit ends before this id.
    assert.equal((await pets.list({ limit: 2 })).next, 2n);
  });
});

describe('imports', { skip: NO_SESSIONS, concurrency: 4 }, () => {
  test('imports › while the insert of another one goes on › let others create, and get ids of their own', async (pets, database) => {
    await database.query(
      `create function wait() returns trigger language plpgsql as $$
        begin
          if pg_my_temp_schema() <> 0 then perform pg_sleep(1); end if;
          return null;
        end $$;
      create trigger wait before insert on pets for each statement execute function wait()`,
    );
    const importing = [pets.merge(repeat(5)), pets.merge(repeat(5))];
    const ids: bigint[] = [];
    let isDone = false;
    const done = Promise.all(importing).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      const before = performance.now();
      ids.push((await pets.add(REX)).id);
      assert.ok(performance.now() - before < 900);
    }
    for (const { withNewIds } of await done) {
      const { count, firstId, lastId } = withNewIds;
      assert.equal(count, 5);
      assert.ok(lastId - firstId >= 4n);
    }
    assert.equal(await countPets(pets), ids.length + 10);
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

test('a sequence › that was set back › ends the start of a service in one line, and fails each create that meets a pet', async (pets, database, store) => {
  await pets.merge(repeat(3));
  await store.keys.add(createNewKey());
  await store.keys.add(createNewKey());
  await database.query("select setval('pets_id', 1), setval('api_keys_id', 1)");
  await assert.rejects(database.open({ isServed: true }), {
    ...UNAVAILABLE,
    message:
      "the database gives ids that are in use: select setval('pets_id', max(id)) from pets; select setval('api_keys_id', max(id)) from api_keys",
  });
  const inUse = {
    ...UNAVAILABLE,
    message:
      "the database gives ids that are in use: run select setval('pets_id', max(id)) from pets, or the same for api_keys",
  };
  await assert.rejects(pets.add(REX), inUse);
  await assert.rejects(store.keys.add(createNewKey()), inUse);
  await assert.rejects(pets.merge(repeat(1)), inUse);
  // Its next id is the last one that is in use.
  await database.query("select setval('pets_id', max(id), false) from pets");
  await assert.rejects(database.open({ isServed: true }), /gives ids that are in use/);
  await database.query("select setval('pets_id', max(id) + 1, false) from pets");
  assert.equal((await pets.add(REX)).id, 4n);
});

test('a sequence › that is missing › ends the start in one line', async (_pets, database) => {
  await database.query('drop sequence pets_id');
  await assert.rejects(database.open({ isServed: true }), {
    ...UNAVAILABLE,
    message:
      'the database lacks a table or column that this program needs: restore it from a backup',
  });
});
