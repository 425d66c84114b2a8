/** Two releases on one schema of PostgreSQL: what the older one may do on that of the newer one, and how tables are migrated that are in use. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import pg from 'pg';
import { MIGRATIONS, type Migration } from '../../src/storage/migrations.ts';
import { copyStore, openStore } from '../../src/storage/open.ts';
import { FILTERS } from '../../src/storage/pet-row.ts';
import { Connection } from '../../src/storage/postgres/connection.ts';
import { parseHosts } from '../../src/storage/postgres/hosts.ts';
import { migrate } from '../../src/storage/postgres/schema.ts';
import { disposable } from '../support/disposable.ts';
import { createTestDatabase, NO_SESSIONS, PATIENT } from '../support/postgres.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import { createFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const REX = { name: 'Rex', categoryId: 1n };
const UNAVAILABLE = { name: 'PetstoreError', code: 'unavailable' };

const ADD_WEIGHT = 'alter table pets add column weight bigint not null default 5';
const NEXT = MIGRATIONS.length + 1;
const LAST_BREAKING = MIGRATIONS.findLast(({ breaking }) => breaking)?.number;
const COMPATIBLE = { breaking: false, sqlite: '', postgres: ADD_WEIGHT };
const ORDERS = { breaking: false, sqlite: '', postgres: 'create table orders ()' };
const RENAME = 'alter table pets rename column name to called';
const BREAKING = { breaking: true, sqlite: '', postgres: RENAME };

/** Of an empty database, which is dropped at the end. */
async function createAddress(t: TestContext): Promise<string> {
  const database = await createTestDatabase();
  t.after(() => database[Symbol.asyncDispose]());
  return database.address;
}

/** Does what the start of a later release does. */
async function upgrade(address: string, ...steps: Omit<Migration, 'number'>[]): Promise<void> {
  const added = steps.map((step, index) => ({ ...step, number: NEXT + index }));
  const connection = new Connection(parseHosts(address), {});
  await connection.connect();
  try {
    const migrations = [...MIGRATIONS, ...added];
    await migrate(connection, { create: true, olderSchema: 'migrate', migrations });
  } finally {
    await connection.end();
  }
}

const open = async (address: string) =>
  disposable(await openStore(address, { create: true, ...PATIENT }));
const readSchema = async (address: string) =>
  (await queryOnce(address, 'select * from petstore_schema')).rows;

test('migrations › their numbers › count up from 1', () => {
  assert.deepEqual(
    MIGRATIONS.map(({ number }) => number),
    MIGRATIONS.map((_step, index) => index + 1),
  );
});

test('pets › each filter › has an index by its column and the id', async (t) => {
  const address = await createAddress(t);
  await (await open(address)).close();
  const { rows } = await queryOnce(address, 'select indexdef from pg_indexes');
  const missing = FILTERS.map(({ column }) => `pets USING btree (${column}, id)`).filter(
    (index) => !rows.some(({ indexdef }) => indexdef.endsWith(index)),
  );
  assert.deepEqual(missing, []);
});

// An index in the order of a library of the system misses rows after an upgrade of the library.
test('pets › each text › is in the order of collate "C"', async (t) => {
  const address = await createAddress(t);
  await (await open(address)).close();
  const { rows } = await queryOnce(
    address,
    `select column_name from information_schema.columns
    where table_name = 'pets' and data_type = 'text' and collation_name is distinct from 'C'`,
  );
  assert.deepEqual(rows, []);
});

describe('a release on the schema of a newer one', () => {
  for (const [what, steps] of [
    ['a step that breaks nothing', [COMPATIBLE]],
    ['two of them', [COMPATIBLE, ORDERS]],
  ] as const) {
    test(`a release on the schema of a newer one › ${what} › starts, and leaves the schema`, async (t) => {
      const address = await createAddress(t);
      {
        await using before = await open(address);
        await before.pets.add(REX);
        await upgrade(address, ...steps);
        // One that runs goes on.
        await before.pets.add(REX);
      }
      await using store = await open(address);
      assert.equal(store.foundSchema, MIGRATIONS.length + steps.length);
      assert.equal((await store.pets.add(REX)).id, 3n);
      assert.equal((await store.pets.addAll(ReadableStream.from([REX, REX]))).count, 2);
      // `pets export FILE` begins with it.
      assert.equal(await store.pets.count(), 5);
      const { rows } = await queryOnce(
        address,
        'select id::int, weight::int from pets order by id',
      );
      assert.deepEqual(
        rows,
        [1, 2, 3, 4, 5].map((id) => ({ id, weight: 5 })),
      );
      assert.deepEqual(await readSchema(address), [
        { version: `${MIGRATIONS.length + steps.length}`, compatible: `${LAST_BREAKING}` },
      ]);
    });
  }

  for (const [what, steps] of [
    ['a breaking step', [BREAKING]],
    ['a breaking step before another', [BREAKING, COMPATIBLE]],
    ['a breaking step after another', [COMPATIBLE, BREAKING]],
  ] as const) {
    test(`a release on the schema of a newer one › ${what} › is refused, and leaves the schema`, async (t) => {
      const address = await createAddress(t);
      await upgrade(address, ...steps);
      const before = await readSchema(address);
      await assert.rejects(openStore(address, { create: true, ...PATIENT }), {
        ...UNAVAILABLE,
        message: `the database is of a newer petstore: its schema is ${MIGRATIONS.length + steps.length}, this program knows up to ${MIGRATIONS.length}`,
      });
      assert.deepEqual(await readSchema(address), before);
    });
  }

  test('a release on the schema of a newer one › backup and copy › are refused, since they would lose what is new', async (t) => {
    const address = await createAddress(t);
    await using folder = await createFolder();
    const other = `sqlite:${folder.path}/other.db`;
    await upgrade(address, COMPATIBLE);
    await using store = await open(address);
    const refusal = {
      ...UNAVAILABLE,
      message: 'the database is of a newer petstore: copy it with that release',
    };
    await assert.rejects(store.backup(`${folder.path}/backup.db`), refusal);
    await (await openStore(other, { create: true, ...PATIENT })).close();
    for (const [from, to] of [
      [address, other],
      [other, address],
    ] as const) {
      await assert.rejects(
        copyStore({ from, to }, () => undefined),
        refusal,
      );
    }
  });

  test('a release on the schema of a newer one › that came while it waited to migrate › leaves it', {
    skip: NO_SESSIONS,
  }, async (t) => {
    const address = await createAddress(t);
    const [first] = MIGRATIONS;
    await queryOnce(address, `${first?.postgres}; update petstore_schema set version = 1`);
    const other = await hold(address, "select pg_advisory_xact_lock(x'50657473'::int)");
    const opening = openStore(address, { create: false, olderSchema: 'migrate', ...PATIENT });
    await untilWaiting(address, true);
    const steps = MIGRATIONS.slice(1).map(({ postgres }) => postgres);
    await other.query(
      `${steps.join(';')}; ${ADD_WEIGHT}; alter table petstore_schema add column compatible bigint;
      update petstore_schema set version = ${NEXT}, compatible = ${LAST_BREAKING}; commit`,
    );
    await other.end();
    await using store = disposable(await opening);
    assert.equal((await store.pets.add(REX)).id, 1n);
    assert.deepEqual(await readSchema(address), [
      { version: `${NEXT}`, compatible: `${LAST_BREAKING}` },
    ]);
  });
});

describe('a migration', { skip: NO_SESSIONS }, () => {
  test('a migration › while a backup reads the table › tries again, and reads go on between', async (t) => {
    const address = await createAddress(t);
    await using store = await open(address);
    await store.pets.add(REX);
    const backup = await hold(address, 'lock table pets in access share mode');
    const upgrading = upgrade(address, COMPATIBLE);
    await untilWaiting(address, true);
    let hasRead = false;
    const reading = queryOnce(address, 'select from pets').then(() => {
      hasRead = true;
    });
    await until(() => hasRead);
    await reading;
    await untilWaiting(address, false);
    await untilWaiting(address, true);
    await backup.end();
    await upgrading;
    assert.deepEqual(await readSchema(address), [
      { version: `${NEXT}`, compatible: `${LAST_BREAKING}` },
    ]);
    assert.equal((await store.pets.add(REX)).id, 2n);
  });

  test('a migration › a table that is held for a minute › gives up in one line, and leaves all', async (t) => {
    const address = await createAddress(t);
    await (await openStore(address, { create: true, ...PATIENT })).close();
    const before = await readSchema(address);
    const backup = await hold(address, 'lock table pets in access share mode');
    const upgrading = assert.rejects(upgrade(address, ORDERS, COMPATIBLE), {
      ...UNAVAILABLE,
      message: 'the database is locked by another process',
    });
    await untilWaiting(address, true);
    const now = performance.now();
    t.mock.method(performance, 'now', () => now + 60_001);
    await upgrading;
    await backup.end();
    assert.deepEqual(await readSchema(address), before);
    const { rows } = await queryOnce(address, "select to_regclass('orders') as orders");
    assert.deepEqual(rows, [{ orders: null }]);
  });
});

/** A transaction of another session, which `end` rolls back. */
async function hold(address: string, sql: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  await client.query(`begin; ${sql}`);
  return client;
}

/** Resolves when a session of the database waits for a lock, or none does. */
function untilWaiting(address: string, isWaiting: boolean): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock'
    and application_name = 'petstore' and datname = current_database()`;
  return until(async () => (await queryOnce(address, waiting)).rows.length > 0 === isWaiting);
}
