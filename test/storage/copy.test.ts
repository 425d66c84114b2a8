/** Copies of whole databases between the engines: all is the same afterwards, or nothing was copied. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ENVIRONMENTS } from '../../src/api-key.ts';
import { PetstoreError } from '../../src/error.ts';
import { NEW_PET_FIELDS } from '../../src/pet.ts';
import { copyDatabase } from '../../src/storage/copy.ts';
import type { Engine, Row, SqlValue } from '../../src/storage/engine.ts';
import { createKeyStore } from '../../src/storage/key-store.ts';
import { createPetStore } from '../../src/storage/pet-store.ts';
import { openPostgres } from '../../src/storage/postgres/engine.ts';
import { openSqlite } from '../../src/storage/sqlite/engine.ts';
import { COPIED, NUMBERED, TABLES } from '../../src/storage/tables.ts';
import { FIELD_VALUES, int64, name } from '../arbitraries.ts';
import { createTestDatabase, NO_SESSIONS, PATIENT } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { createNewKey, repeat } from './contract/data.ts';

const ENGINES = ['sqlite', 'postgresql'] as const;
type EngineName = (typeof ENGINES)[number];

/** The content of a database: the rows of each table, and the last ids. */
type Content = Readonly<Record<'rows', Rows> & { lastIds: readonly bigint[] }>;
type Rows = Readonly<Record<string, readonly Row[]>>;

const NO_ROWS: Rows = Object.fromEntries(COPIED.map((table) => [table.name, []]));
const EMPTY: Content = { rows: NO_ROWS, lastIds: NUMBERED.map(() => 0n) };

const KEY: Row = [7n, 'ci', 'staging', 0n, 1n, null, null, null, null, Buffer.alloc(32)];

/** The sessions that wait for a lock. */
const WAITING = `select pid from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;

/** SQL that makes PostgreSQL give pet 1050 another status. */
const ALTER = [
  `create function meddle() returns trigger language plpgsql as
    $$ begin if new.id = 1050 then new.status := 'null'; end if; return new; end $$`,
  'create trigger meddle before insert on pets for each row execute function meddle()',
];

const LIST_COLUMNS: Readonly<Record<EngineName, string>> = {
  sqlite: `select tables.name, columns.name from sqlite_schema as tables, pragma_table_info(tables.name) as columns
    where tables.type = 'table' and tables.name not like 'sqlite_%'`,
  postgresql: `select table_name, column_name from information_schema.columns
    where table_schema = current_schema()`,
};

test('TABLES › the key of each table, except one that is not copied › is its primary key', async () => {
  await using opened = await open('sqlite');
  const { petstore_schema: _schema, ...copied } = TABLES;
  for (const [table, { columns, key }] of Object.entries(copied)) {
    assert.ok(key.length > 0, `${table} is not copied`);
    const sql = `select name from pragma_table_info('${table}') where pk > 0 order by pk`;
    assert.deepEqual((await opened.database.read(sql)).flat(), key, table);
    assert.deepEqual(columns.slice(0, key.length), key, table);
  }
});

for (const engine of ENGINES) {
  test(`TABLES › each table and column of the layout on ${engine} › is one of it`, async () => {
    await using opened = await open(engine);
    const found = await opened.database.read(LIST_COLUMNS[engine]);
    // On SQLite, tables such as the one of the layout are not needed.
    const names = new Set(found.map(([table]) => table));
    const described = Object.entries(TABLES).filter(
      ([table, { key }]) => key.length > 0 || names.has(table) || engine !== 'sqlite',
    );
    assert.deepEqual(
      found.map((row) => row.join('.')).sort(),
      described.flatMap(([table, { columns }]) => columns.map((name) => `${table}.${name}`)).sort(),
    );
  });
}

async function open(engine: EngineName) {
  const place = engine === 'postgresql' ? await createTestDatabase() : undefined;
  const database =
    place === undefined
      ? await openSqlite(':memory:', { create: true })
      : await openPostgres(place.address, { create: true, ...PATIENT });
  return {
    database,
    async run(sql: string) {
      await database.write({ sql, values: [] });
    },
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await place?.[Symbol.asyncDispose]();
    },
  };
}

async function read(database: Engine): Promise<Content> {
  return database.longTransaction('snapshot', async ({ read, readLastId }) => {
    const lastIds: bigint[] = [];
    for (const table of NUMBERED) lastIds.push(await readLastId(table));
    const content: Record<string, Row[]> = {};
    for (const { name, columns, key } of COPIED) {
      const rows = await read(`select ${columns} from ${name} order by ${key}`);
      content[name] = rows.map((row) =>
        row.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value)),
      );
    }
    return { rows: content, lastIds };
  });
}

/** Replaces the content of a database. */
async function write(
  { database, run }: Awaited<ReturnType<typeof open>>,
  { rows, lastIds }: Content,
): Promise<void> {
  for (const { name } of COPIED) await run(`delete from ${name}`);
  await database.longTransaction('exclusive', async ({ insert, writeLastId }) => {
    for (const { name, columns } of COPIED) await insert(name, columns, rows[name] ?? []);
    for (const [index, name] of NUMBERED.entries()) await writeLastId(name, lastIds[index] ?? 0n);
  });
}

/** More rows than go at once, with gaps between their ids. No petstore gives the first id. */
const sampleRows = (...columns: readonly fc.Arbitrary<SqlValue>[]): Row[] =>
  fc.sample(fc.tuple(...columns), 1_100).map((row, index) => [BigInt(3 * index), ...row]);

const time = fc.option(fc.bigInt(0n, 2n ** 53n - 1n), { nil: null });
const digest = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const flags = [fc.constantFrom(...ENVIRONMENTS), fc.constantFrom(0n, 1n)];

test('copyDatabase › any store from SQLite to PostgreSQL and back › is the same, tells how many pets are copied, and goes on after the last id', async () => {
  await using first = await open('sqlite');
  await using middle = await open('postgresql');
  await using last = await open('sqlite');
  const fields = NEW_PET_FIELDS.map((field): fc.Arbitrary<SqlValue> => {
    const values = FIELD_VALUES[field.name];
    return field.optional ? fc.option<SqlValue>(values, { nil: null }) : values;
  });
  const rows: Rows = {
    pets: sampleRows(...fields),
    api_keys: sampleRows(name, ...flags, int64, time, time, time, time, digest),
    // Pets, and the names of one API key, are unique.
    idempotency_keys: sampleRows(name, int64, fc.option(name)).map(
      ([id = 0n, name = '', at = 0n, addedAs = null]) => [id, name, at, id, addedAs],
    ),
  };
  assert.deepEqual(Object.keys(rows), Object.keys(NO_ROWS), 'a table has no rows in this test');
  const given = { rows, lastIds: NUMBERED.map((_name, index) => BigInt(10_000 * (index + 1))) };
  await write(first, given);
  for (const [from, to] of [
    [first, middle],
    [middle, last],
  ] as const) {
    let pets = 0;
    const onPets = (count: number) => {
      pets += count;
    };
    const keys = await copyDatabase(from.database, to.database, { onPets });
    assert.deepEqual([keys, pets], [rows.api_keys?.length, rows.pets?.length]);
    assert.deepEqual(await read(to.database), given);
  }
  const pet = { name: 'Rex', categoryId: 1n };
  for (const { database } of [middle, last]) {
    assert.equal((await createPetStore(database).add(pet)).id, 10_001n);
  }
});

test('copyDatabase › to a store that has something › is refused and leaves it', async () => {
  await using source = await open('postgresql');
  await using target = await open('sqlite');
  await createPetStore(source.database).merge(repeat(3));
  for (const there of [
    { rows: { ...NO_ROWS, pets: [[7n, 'Tom', 1n, null]] }, lastIds: [9n, 0n] },
    { rows: { ...NO_ROWS, api_keys: [KEY] }, lastIds: [0n, 9n] },
    { ...EMPTY, rows: { ...NO_ROWS, idempotency_keys: [[7n, 'again', 1n, 7n, null]] } },
  ]) {
    await write(target, there);
    await assert.rejects(copyDatabase(source.database, target.database), {
      ...{ name: 'PetstoreError', code: 'bad_request' },
      message: 'the store to copy to is not empty: name an empty one',
    });
    assert.deepEqual(await read(target.database), there);
  }
});

/** The database, whose connection breaks when it has committed. */
function breakOff({ longTransaction, ...others }: Engine): Engine {
  return {
    ...others,
    async longTransaction(kind, work) {
      await longTransaction(kind, work);
      throw Object.assign(new PetstoreError('unavailable', 'it broke'), { isUnsure: true });
    },
  };
}

test('copyDatabase › a connection that breaks after the commit › fails unsurely, and the one to the source not at all', async () => {
  await using source = await open('sqlite');
  await using target = await open('sqlite');
  await using broken = await open('sqlite');
  await write(source, { ...EMPTY, rows: { ...NO_ROWS, api_keys: [KEY] } });
  assert.equal(await copyDatabase(breakOff(source.database), target.database), 1);
  const message = 'the store to copy to: it broke';
  const copying = copyDatabase(source.database, breakOff(broken.database));
  await assert.rejects(copying, { code: 'unavailable', message, isUnsure: true });
  for (const { database } of [target, broken]) {
    assert.deepEqual((await read(database)).rows.api_keys, [KEY]);
  }
});

test('copyDatabase › a target that alters an absent status › is left empty, and works afterwards', async () => {
  await using source = await open('sqlite');
  await using target = await open('postgresql');
  await createPetStore(source.database).merge(repeat(1_100));
  for (const sql of ALTER) await target.run(sql);
  await assert.rejects(copyDatabase(source.database, target.database), {
    ...{ name: 'PetstoreError', code: 'internal_error' },
    message: 'the copy differs from the original, and was undone',
  });
  assert.deepEqual(await read(target.database), EMPTY);
  await target.run('drop trigger meddle on pets');
  await copyDatabase(source.database, target.database);
  assert.deepEqual(await read(target.database), await read(source.database));
});

test('copyDatabase › what is added meanwhile › is not copied, and has later ids in the target', {
  skip: NO_SESSIONS,
}, async () => {
  await using source = await open('postgresql');
  await using target = await open('postgresql');
  const rex = [7n, 'Rex', 1n, null];
  await write(source, { rows: { ...NO_ROWS, pets: [rex] }, lastIds: [9n, 4n] });
  const [added, copied] = [source, target].map(({ database }) => createPetStore(database));
  const keys = createKeyStore(target.database);
  // So that there are connections for the copy and what is added.
  await Promise.all([added?.find(1n), copied?.find(1n), keys.list(), keys.list()]);
  const tom = { name: 'Tom', categoryId: 1n };
  let inSource: Promise<unknown> | undefined;
  let inTarget: Promise<unknown[]> | undefined;
  await copyDatabase(
    beforeLastIds(source.database, async () => {
      inSource ??= added?.add(tom);
      inTarget ??= Promise.all([copied?.add(tom), keys.add(createNewKey())]);
      await inSource;
      await until(async () => (await target.database.read(WAITING)).length === 2);
    }),
    target.database,
  );
  const ids = [await inSource, ...((await inTarget) ?? [])].map((one) => Object(one).id);
  assert.deepEqual(ids, [10n, 11n, 5]);
  assert.deepEqual((await read(target.database)).rows.pets, [rex, [11n, 'Tom', 1n, null]]);
});

/** The same database, where a copy waits for this before it reads the last ids. */
function beforeLastIds(database: Engine, wait: () => Promise<void>): Engine {
  const longTransaction: Engine['longTransaction'] = (kind, work) =>
    database.longTransaction(kind, (transaction) =>
      work({
        ...transaction,
        async readLastId(table) {
          await wait();
          return transaction.readLastId(table);
        },
      }),
    );
  return Object.assign(Object.create(database), { longTransaction });
}
