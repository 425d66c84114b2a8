/** What a store on PostgreSQL does at the limit of a call: what fails in time, and what may take longer. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { PetStore } from '../../src/store.ts';
import { createEmptyDatabase, holdInSession } from '../support/empty-database.ts';
import { endSessions, LIMITED, NO_SESSIONS } from '../support/postgres.ts';
import { addOnce, createNewKey, REX } from './contract/data.ts';

const UNAVAILABLE = { name: 'PetstoreError', code: 'unavailable' };

/** Longer than a call of a store with LIMITED may take. */
const LONG_MS = 1_000;
async function assertWorks(pets: PetStore): Promise<void> {
  const added = await pets.add(REX);
  assert.deepEqual(await pets.find(added.id), added);
}

describe('limits of time', { skip: NO_SESSIONS }, () => {
  test('limits of time › more creates than connections, all blocked › leave reads as they were', async () => {
    await using database = await createEmptyDatabase();
    const { pets, keys } = await database.open({ databaseConnections: 2 });
    const { id } = await keys.add(createNewKey());
    await pets.add(REX);
    await using other = await holdInSession(
      database,
      `lock table pets in share row exclusive mode; update api_keys set name = 'x'`,
    );
    const request = { keyId: id, at: 1 };
    const writing = Array.from({ length: 20 }, (_, index) => [
      addOnce(pets, REX, { ...request, key: `${index}` }),
      pets.add(REX),
      keys.touch(id, 1),
    ]).flat();
    const blocked = Promise.allSettled(writing);
    await setTimeout(100);
    for (let count = 0; count < 20; count += 1) assert.ok(await pets.find(1n));
    await other.end('rollback');
    await blocked;
    await assertWorks(pets);
  });
});

/** SQL that makes the insert of any number of pets take longer than a call of a store may. */
const SLOW_INSERTS = `create function wait() returns trigger language plpgsql as
    $$ begin perform pg_sleep(${LONG_MS / 1_000}); return null; end $$;
  create trigger wait before insert on pets for each statement execute function wait()`;

describe('long work', { skip: NO_SESSIONS, concurrency: true }, () => {
  test('long work › an import whose insert takes more than a second › is done', async () => {
    await using database = await createEmptyDatabase();
    const { pets } = await database.open(LIMITED);
    await database.query(SLOW_INSERTS);
    assert.equal((await pets.merge(ReadableStream.from([REX, REX]))).added, 2);
    assert.equal((await pets.list({ limit: 9 })).pets.length, 2);
    const staged = "select relname from pg_class where relname like 'staged%'";
    assert.deepEqual(await database.query(staged), []);
  });

  test('long work › a first start while another migrates for more than a second › waits for it', async () => {
    await using database = await createEmptyDatabase();
    await using other = await holdInSession(
      database,
      "select pg_advisory_xact_lock(x'50657473'::int)",
    );
    const opening = database.open(LIMITED);
    await setTimeout(LONG_MS + 100);
    await other.end('rollback');
    await assertWorks((await opening).pets);
  });

  test('long work › a connection that is lost between two batches of an import › fails it, and adds none', async () => {
    await using database = await createEmptyDatabase();
    const { pets } = await database.open();
    async function* loseConnection() {
      for (let count = 0; count < 1_500; count += 1) yield REX;
      await endSessions(database.address);
      // Nothing is sent meanwhile, so that the client learns it by an event.
      await setTimeout(50);
      for (let count = 0; count < 1_500; count += 1) yield REX;
    }
    await assert.rejects(pets.merge(loseConnection()), UNAVAILABLE);
    assert.deepEqual(await pets.list({ limit: 1 }), { pets: [] });
    await assertWorks(pets);
  });
});
