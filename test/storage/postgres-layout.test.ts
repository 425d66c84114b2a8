/** Two releases on one layout of PostgreSQL: what the older one may do on that of the newer one, and how tables are migrated that are in use. */

import assert from 'node:assert/strict';
import { describe, test as testAlone } from 'node:test';
import { findSteps, LAYOUT, MIGRATIONS, type Migration } from '../../src/storage/migrations.ts';
import { copyStore, openStore } from '../../src/storage/open.ts';
import { migrate } from '../../src/storage/postgres/layout.ts';
import { waitWhileAway } from '../../src/storage/postgres/start.ts';
import { countPets } from '../support/count-pets.ts';
import {
  createEmptyDatabase,
  type EmptyDatabase,
  holdInSession,
  testOnPostgres,
} from '../support/empty-database.ts';
import { createOlderStore, OLDER_LAYOUT, openOlder } from '../support/older-store.ts';
import { NO_SESSIONS, PATIENT } from '../support/postgres.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { combineFilters, REX } from './contract/data.ts';

const UNAVAILABLE = { name: 'PetstoreError', code: 'unavailable' };

const test = testOnPostgres();

const ADD_WEIGHT = 'alter table pets add column weight bigint not null default 5';
const NEXT = LAYOUT + 1;
const LAST_BREAKING = MIGRATIONS.findLast(({ breaking }) => breaking)?.number;
const COMPATIBLE = { breaking: false, sqlite: '', postgres: ADD_WEIGHT };
const ORDERS = { breaking: false, sqlite: '', postgres: 'create table orders ()' };
const RENAME = 'alter table pets rename column name to called';
const BREAKING = { breaking: true, sqlite: '', postgres: RENAME };

/** Does what the start of a later release does. */
async function upgrade(
  database: EmptyDatabase,
  steps: readonly Omit<Migration, 'from' | 'number'>[],
  startTimeout = 0,
): Promise<void> {
  const added = steps.map((step, index) => ({
    ...step,
    from: LAYOUT + index,
    number: NEXT + index,
  }));
  const migrations = [...MIGRATIONS, ...added];
  const connection = await database.connect();
  await waitWhileAway({ startTimeout }, () =>
    migrate(connection, '', { create: true, olderLayout: 'migrate' }, migrations),
  );
}

const readLayout = ({ query }: EmptyDatabase) => query('select * from petstore_schema');
const toLayout = (version: number) => [{ version: `${version}`, compatible: `${LAST_BREAKING}` }];

// An index in the order of a library of the system misses rows after an upgrade of the library.
test('pets › each combination of filters, each text › has an index by its columns and the id, is in the order of collate "C"', async (_pets, database) => {
  const indexes = await database.query('select indexdef from pg_indexes');
  const missing = combineFilters()
    .map((filters) => `pets USING btree (${filters.map(({ column }) => column).join(', ')}, id)`)
    .filter((index) => !indexes.some(({ indexdef }) => String(indexdef).endsWith(index)));
  const otherwise = await database.query(
    `select column_name from information_schema.columns
    where table_schema = current_schema() and table_name = 'pets' and data_type = 'text'
      and collation_name is distinct from 'C'`,
  );
  assert.deepEqual([missing, otherwise], [[], []]);
});

test('a restore › that did not end, so that any key of the first layout is missing › is refused, but can be read', async (pets, database) => {
  const sql =
    'select conname as name from pg_constraint where connamespace = current_schema()::regnamespace';
  await using older = await openOlder('postgresql');
  const first = (await queryOnce(older.address, sql)).rows.map(({ name }) => name);
  const names = (await database.query(sql)).flatMap(({ name }) =>
    first.includes(name) ? name : [],
  );
  assert.equal(names.length, 5);
  for (const name of names) {
    await database.query(`alter index ${name} rename to missing`);
    await assert.rejects(database.open(), {
      ...UNAVAILABLE,
      message: `the database lacks an index: its restore did not end, or somebody dropped it: ${name}`,
    });
    await using reader = await openStore(database.address, { onlyReads: true });
    assert.equal((await reader.pets.list({ limit: 1 })).pets.length, 0);
    await database.query(`alter index missing rename to ${name}`);
  }
  await database.open();
  await database.query('alter table idempotency_keys drop constraint idempotency_keys_pkey');
  await assert.rejects(pets.add(REX), { ...UNAVAILABLE, message: /lacks an index/ });
});

test('a release on the layout of a newer one › two steps that break nothing › starts, and leaves the layout', async (pets, database) => {
  await pets.add(REX);
  await upgrade(database, [COMPATIBLE, ORDERS]);
  // One that runs goes on.
  await pets.add(REX);
  const store = await database.open();
  const version = LAYOUT + 2;
  assert.equal(store.foundLayout, version);
  assert.equal((await store.pets.add(REX)).id, 3n);
  assert.equal((await store.pets.merge(ReadableStream.from([REX, REX]))).added, 2);
  // `pets export FILE` begins with it.
  assert.equal(await countPets(store.pets), 5);
  assert.deepEqual(
    await database.query('select id::int, weight::int from pets order by id'),
    [1, 2, 3, 4, 5].map((id) => ({ id, weight: 5 })),
  );
  assert.deepEqual(await readLayout(database), toLayout(version));
});

for (const [what, steps] of [
  ['a breaking step before another', [BREAKING, COMPATIBLE]],
  ['a breaking step after another', [COMPATIBLE, BREAKING]],
] as const) {
  test(`a release on the layout of a newer one › ${what} › is refused, and leaves the layout`, async (_pets, database) => {
    await upgrade(database, steps);
    const before = await readLayout(database);
    await assert.rejects(database.open(), {
      ...UNAVAILABLE,
      message: `the database is of a newer petstore: its layout is ${LAYOUT + steps.length}, this program knows up to ${LAYOUT}`,
    });
    assert.deepEqual(await readLayout(database), before);
  });
}

test('a release on the layout of a newer one › backup and copy › are refused, since they would lose what is new', async (_pets, database) => {
  const { address } = database;
  const folder = createProcessFolder();
  const other = `sqlite:${folder}/other.db`;
  await upgrade(database, [COMPATIBLE]);
  const store = await database.open();
  const refusal = {
    ...UNAVAILABLE,
    message: /^the store to copy (from|to) is of a newer petstore: copy it with that release$/,
  };
  await assert.rejects(store.backup(`${folder}/backup.db`), refusal);
  await (await openStore(other, { create: true, ...PATIENT })).close();
  for (const [from, to] of [
    [address, other],
    [other, address],
  ] as const) {
    await assert.rejects(copyStore(from, to), refusal);
  }
});

testAlone(
  'a release on the layout of a newer one › that came while it waited to migrate › leaves it',
  {
    skip: NO_SESSIONS,
  },
  async () => {
    await using database = await createEmptyDatabase();
    await createOlderStore(database.address);
    const steps = findSteps(OLDER_LAYOUT).map(({ postgres }) => postgres);
    await using other = await holdInSession(
      database,
      `select pg_advisory_xact_lock(x'50657473'::int); ${steps.join(';')}; ${ADD_WEIGHT};
    update petstore_schema set version = ${NEXT}, compatible = ${LAST_BREAKING}`,
    );
    const opening = database.open({ create: false, olderLayout: 'migrate' });
    await database.untilWaiting(1);
    await other.end('commit');
    const store = await opening;
    assert.equal((await store.pets.add(REX)).id, 4n);
    assert.deepEqual(await readLayout(database), toLayout(NEXT));
  },
);

describe('a migration', { skip: NO_SESSIONS }, () => {
  test('a migration › while a backup reads the table › tries again, and reads go on between', async (pets, database) => {
    await pets.add(REX);
    await using backup = await holdInSession(database, 'lock table pets in access share mode');
    const upgrading = upgrade(database, [COMPATIBLE], 60);
    await database.untilWaiting(1);
    let hasRead = false;
    const reading = database.query('select from pets').then(() => {
      hasRead = true;
    });
    await until(() => hasRead);
    await reading;
    await database.untilWaiting(0);
    await database.untilWaiting(1);
    await backup.end('rollback');
    await upgrading;
    assert.deepEqual(await readLayout(database), toLayout(NEXT));
    assert.equal((await pets.add(REX)).id, 2n);
  });

  testAlone(
    'a migration › while a create of 1.0.0 ends › waits for it, and gives later ids',
    async () => {
      await using database = await createEmptyDatabase();
      await createOlderStore(database.address);
      await using other = await holdInSession(
        database,
        "update counters set value = 4 where name = 'pets'; insert into pets values (4, 'Rex', 1)",
      );
      const opening = database.open({ olderLayout: 'migrate', startTimeout: 60 });
      await database.untilWaiting(1);
      await other.end('commit');
      assert.equal((await (await opening).pets.add(REX)).id, 5n);
    },
  );

  test('a migration › a table that stays held › gives up in one line, and leaves all', async (_pets, database) => {
    const before = await readLayout(database);
    await using _backup = await holdInSession(database, 'lock table pets in access share mode');
    await assert.rejects(upgrade(database, [ORDERS, COMPATIBLE], 1), {
      ...UNAVAILABLE,
      message: 'the database is locked by another process',
    });
    assert.deepEqual(await readLayout(database), before);
    const orders = await database.query("select to_regclass('orders') as orders");
    assert.deepEqual(orders, [{ orders: null }]);
  });
});
