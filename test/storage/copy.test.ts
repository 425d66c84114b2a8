/** Copies of whole databases between the engines: all is the same afterwards, or nothing was copied. */

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { ENVIRONMENTS, type NewApiKey } from '../../src/api-key.ts';
import type { NewPet } from '../../src/pet.ts';
import { copyDatabase, TABLES } from '../../src/storage/copy.ts';
import type { Engine, Row } from '../../src/storage/engine.ts';
import { createKeyStore } from '../../src/storage/key-store.ts';
import { MIGRATIONS } from '../../src/storage/migrations.ts';
import { createPetStore } from '../../src/storage/pet-store.ts';
import { openPostgres } from '../../src/storage/postgres/engine.ts';
import { openSqlite } from '../../src/storage/sqlite/engine.ts';
import { int64, name, status } from '../arbitraries.ts';
import { createTestDatabase, PATIENT } from '../support/postgres.ts';

const ENGINES = ['sqlite', 'postgresql'] as const;
type EngineName = (typeof ENGINES)[number];

/** The content of a database: its rows and the last ids. */
interface Content {
  readonly pets: readonly Row[];
  readonly keys: readonly Row[];
  /** The rows of idempotency_keys. */
  readonly requests: readonly Row[];
  readonly lastIds: readonly [bigint, bigint];
}

interface TestEngine extends AsyncDisposable {
  readonly database: Engine;
  run(sql: string): Promise<void>;
}

const PETS = ['id', 'name', 'category_id', 'status'];
const KEYS = [
  ...['id', 'digest', 'name', 'environment', 'created_at', 'expires_at'],
  ...['last_used_at', 'revoked_at', 'rotated_at', 'read_only'],
];
const REQUESTS = ['pet_id', 'api_key_id', 'name', 'created_at', 'added_as'];
const EMPTY: Content = { pets: [], keys: [], requests: [], lastIds: [0n, 0n] };

/** Time to add a pet while a copy is under way; one that waits for the copy, as it may have to, needs more. */
const MEANWHILE_MS = 50;

const NOT_THE_SAME = {
  ...{ name: 'PetstoreError', code: 'internal_error' },
  message: 'the copy differs from the original, and was undone',
};

const NEW_KEY: NewApiKey = {
  ...{ digest: Buffer.alloc(32), name: 'ci', environment: 'staging', createdAt: 1 },
};

test('copyDatabase › every column of the schema › is one that it copies', () => {
  const database = new DatabaseSync(':memory:');
  for (const { sqlite } of MIGRATIONS) database.exec(sqlite);
  const columns = database.prepare(`select tables.name || '.' || columns.name as name
    from sqlite_schema as tables, pragma_table_info(tables.name) as columns
    where tables.type = 'table' and tables.name not like 'sqlite_%'`);
  const copied = Object.entries(TABLES).flatMap(([table, names]) =>
    names.map((name) => `${table}.${name}`),
  );
  assert.deepEqual(
    copied.toSorted(),
    columns
      .all()
      .map((row) => `${row.name}`)
      .toSorted(),
  );
});

async function open(engine: EngineName): Promise<TestEngine> {
  const place = engine === 'postgresql' ? await createTestDatabase() : undefined;
  const database =
    place === undefined
      ? await openSqlite(':memory:', { create: true })
      : await openPostgres(place.address, { create: true, ...PATIENT });
  return {
    database,
    async run(sql) {
      await database.write({ sql, values: [] });
    },
    async [Symbol.asyncDispose]() {
      await database.close();
      await place?.[Symbol.asyncDispose]();
    },
  };
}

async function read(database: Engine): Promise<Content> {
  return database.transact('snapshot', async (transaction) => ({
    pets: await transaction.read(`select ${PETS} from pets order by id`),
    keys: (await transaction.read(`select ${KEYS} from api_keys order by id`)).map((row) =>
      row.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value)),
    ),
    requests: await transaction.read(`select ${REQUESTS} from idempotency_keys order by pet_id`),
    lastIds: [await transaction.readLastId('pets'), await transaction.readLastId('api_keys')],
  }));
}

/** Replaces the content of a database. */
async function write({ database, run }: TestEngine, content: Content): Promise<void> {
  for (const table of ['pets', 'api_keys', 'idempotency_keys']) await run(`delete from ${table}`);
  await database.transact('exclusive', async (transaction) => {
    await transaction.insert('pets', PETS, content.pets);
    await transaction.insert('api_keys', KEYS, content.keys);
    await transaction.insert('idempotency_keys', REQUESTS, content.requests);
    await transaction.writeLastId('pets', content.lastIds[0]);
    await transaction.writeLastId('api_keys', content.lastIds[1]);
  });
}

async function* repeat(count: number): AsyncGenerator<NewPet> {
  for (let index = 0; index < count; index += 1) yield { name: `Rex ${index}`, categoryId: 1n };
}

/** Rows with gaps between their ids, and a last id that may be of a deleted row. */
function rowsOf<Value extends Row>(
  values: fc.Arbitrary<Value>,
): fc.Arbitrary<{ rows: Row[]; lastId: bigint }> {
  const gap = fc.bigInt(1n, 2n ** 40n);
  return fc
    .record({ given: fc.array(fc.tuple(gap, values), { maxLength: 30 }), after: fc.bigInt(0n, 9n) })
    .map(({ given, after }) => {
      let lastId = 0n;
      const rows = given.map(([step, value]) => {
        lastId += step;
        return [lastId, ...value];
      });
      return { rows, lastId: lastId + after };
    });
}

const time = fc.option(fc.bigInt(0n, 2n ** 53n - 1n), { nil: null });
const digest = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const content: fc.Arbitrary<Content> = fc
  .record({
    pets: rowsOf(fc.tuple(name, int64, fc.option(status, { nil: null }))),
    keys: rowsOf(
      fc.tuple(
        ...[digest, name, fc.constantFrom(...ENVIRONMENTS), int64, time, time, time, time],
        fc.constantFrom(0n, 1n),
      ),
    ),
    requests: rowsOf(fc.tuple(name, int64, fc.option(name))),
  })
  .map(({ pets, keys, requests }) => ({
    pets: pets.rows,
    keys: keys.rows,
    // The names of one API key are unique.
    requests: requests.rows.map(([id, ...rest], index) => [id ?? null, BigInt(index), ...rest]),
    lastIds: [pets.lastId, keys.lastId],
  }));

describe('copyDatabase', () => {
  test('copyDatabase › any store from SQLite to PostgreSQL and back › is the same', async () => {
    await using first = await open('sqlite');
    await using middle = await open('postgresql');
    await using last = await open('sqlite');
    await fc.assert(
      fc.asyncProperty(content, async (given) => {
        await write(first, given);
        await write(middle, EMPTY);
        await write(last, EMPTY);
        const there = await copyDatabase(first.database, middle.database);
        const back = await copyDatabase(middle.database, last.database);
        assert.deepEqual(await read(middle.database), given);
        assert.deepEqual(await read(last.database), given);
        assert.deepEqual(back, there);
        assert.equal(there.keys, given.keys.length);
      }),
      { numRuns: 25 },
    );
  });

  for (const from of ENGINES) {
    const to = from === 'sqlite' ? 'postgresql' : 'sqlite';
    const way = `from ${from} to ${to}`;

    test(`copyDatabase ${way} › more pets than go at once › tells how much is done, and goes on after the last id`, async () => {
      await using source = await open(from);
      await using target = await open(to);
      await createPetStore(source.database).addAll(repeat(2_500));
      await source.run('delete from pets where id > 2400');
      const told: unknown[] = [];
      await copyDatabase(source.database, target.database, (phase, part, pets) =>
        told.push({ phase, part, pets }),
      );
      const steps = [1_000, 1_000, 400].map((pets, index) => ({
        ...{ part: Math.min((index + 1) / 2.4, 1), pets },
      }));
      assert.deepEqual(
        told,
        (['copied', 'read back'] as const).flatMap((phase) =>
          steps.map((step) => ({ phase, ...step })),
        ),
      );
      assert.deepEqual(await read(target.database), await read(source.database));
      const added = await createPetStore(target.database).add({ name: 'Rex', categoryId: 1n });
      assert.equal(added.id, 2_501n);
    });

    test(`copyDatabase ${way} › of one environment › leaves out the keys of the other, and no pet`, async () => {
      await using source = await open(from);
      await using target = await open(to);
      const keys = ENVIRONMENTS.map((environment, index) => [
        ...[BigInt(index + 1), Buffer.alloc(32, index), 'ci', environment, 1n],
        ...[null, null, null, null, 0n],
      ]);
      const given = { ...EMPTY, pets: [[7n, 'Rex', 1n, null]], keys, lastIds: [9n, 2n] } as const;
      await write(source, given);
      const { database } = target;
      const result = await copyDatabase(source.database, database, undefined, 'production');
      assert.equal(result.keys, 1);
      assert.deepEqual(await read(database), { ...given, keys: [keys[1]] });
    });

    test(`copyDatabase ${way} › to a store that has something › is refused and leaves it`, async () => {
      await using source = await open(from);
      await using target = await open(to);
      await createPetStore(source.database).addAll(repeat(3));
      const key = [7n, Buffer.alloc(32), 'ci', 'staging', 1n, null, null, null, null, 0n];
      for (const there of [
        { ...EMPTY, pets: [[7n, 'Tom', 1n, null]], lastIds: [9n, 0n] },
        { ...EMPTY, keys: [key], lastIds: [0n, 9n] },
        { ...EMPTY, requests: [[7n, 7n, 'again', 1n, null]] },
      ] satisfies Content[]) {
        await write(target, there);
        await assert.rejects(copyDatabase(source.database, target.database), {
          ...{ name: 'PetstoreError', code: 'bad_request' },
          message: 'the store to copy to is not empty: name an empty one',
        });
        assert.deepEqual(await read(target.database), there);
      }
    });

    for (const [what, trigger, error] of [
      [
        'refuses a pet',
        {
          sqlite: `before insert on pets when new.id = 1500 begin select raise(abort, 'no'); end`,
          postgresql: `if new.id = 1500 then raise 'no'; end if;`,
        },
        /no$/,
      ],
      ['alters a name', alter('name', 'Tom'), NOT_THE_SAME],
      ['alters an absent status', alter('status', 'null'), NOT_THE_SAME],
    ] as const) {
      test(`copyDatabase ${way} › a target that ${what} › is left empty, and works afterwards`, async () => {
        await using source = await open(from);
        await using target = await open(to);
        await createPetStore(source.database).addAll(repeat(2_000));
        const drop = await addTrigger(target, to, trigger);
        await assert.rejects(copyDatabase(source.database, target.database), error);
        assert.deepEqual(await read(target.database), EMPTY);
        await drop();
        await copyDatabase(source.database, target.database);
        assert.deepEqual(await read(target.database), await read(source.database));
      });
    }

    test(`copyDatabase ${way} › a pet whose id no petstore gives › is not left out in silence`, async () => {
      await using source = await open(from);
      await using target = await open(to);
      await createPetStore(source.database).addAll(repeat(3));
      await source.run("insert into pets (id, name, category_id) values (0, 'Tom', 1)");
      await assert.rejects(copyDatabase(source.database, target.database), NOT_THE_SAME);
      assert.deepEqual(await read(target.database), EMPTY);
    });
  }

  test('copyDatabase › a pet and a key that are added to the target meanwhile › wait and have the next ids', async () => {
    await using source = await open('sqlite');
    await using target = await open('postgresql');
    await write(source, { ...EMPTY, pets: [[7n, 'Rex', 1n, null]], lastIds: [9n, 4n] });
    const pets = createPetStore(target.database);
    const keys = createKeyStore(target.database);
    // So that there are connections for the copy and both of them.
    await Promise.all([pets.find(1n), keys.list(), keys.list()]);
    let adding: Promise<unknown[]> | undefined;
    await copyDatabase(
      beforeLastIds(source.database, async () => {
        adding ??= Promise.all([pets.add({ name: 'Tom', categoryId: 1n }), keys.add(NEW_KEY)]);
        await Promise.race([adding, setTimeout(MEANWHILE_MS)]);
      }),
      target.database,
    );
    const ids = (await adding)?.map((added) => Object(added).id);
    assert.deepEqual(ids, [10n, 5]);
    assert.deepEqual((await read(target.database)).lastIds, [10n, 5n]);
  });

  test('copyDatabase › a pet that is added to the source meanwhile › is not in the copy', async () => {
    await using source = await open('postgresql');
    await using target = await open('sqlite');
    await createPetStore(source.database).addAll(repeat(3));
    const before = await read(source.database);
    let adding: Promise<unknown> | undefined;
    await copyDatabase(
      beforeLastIds(source.database, async () => {
        adding ??= createPetStore(source.database).add({ name: 'Tom', categoryId: 1n });
        await Promise.race([adding, setTimeout(MEANWHILE_MS)]);
      }),
      target.database,
    );
    await adding;
    assert.deepEqual(await read(target.database), before);
  });

  test('copyDatabase › a target that keeps another last id › is found out and left empty', async () => {
    await using source = await open('sqlite');
    await using target = await open('postgresql');
    await createPetStore(source.database).addAll(repeat(3));
    await target.run(
      `create function meddle() returns trigger language plpgsql as
        $$ begin new.value := new.value - 1; return new; end $$`,
    );
    await target.run(
      `create trigger meddle before update on counters for each row
        when (new.value > 0) execute function meddle()`,
    );
    await assert.rejects(copyDatabase(source.database, target.database), NOT_THE_SAME);
    assert.deepEqual(await read(target.database), EMPTY);
  });
});

/** The same database, where a copy waits for this before it reads the last ids. */
function beforeLastIds(database: Engine, wait: () => Promise<void>): Engine {
  const transact: Engine['transact'] = (kind, work) =>
    database.transact(kind, (transaction) =>
      work({
        ...transaction,
        async readLastId(table) {
          await wait();
          return transaction.readLastId(table);
        },
      }),
    );
  return Object.assign(Object.create(database), { transact });
}

/** The trigger that gives pet 1500 another value. */
function alter(column: string, value: string): Record<EngineName, string> {
  return {
    sqlite: `after insert on pets when new.id = 1500
      begin update pets set ${column} = '${value}' where id = new.id; end`,
    postgresql: `if new.id = 1500 then new.${column} := '${value}'; end if;`,
  };
}

/** Runs SQL before or after each insert, by a trigger; resolves to what removes it. */
async function addTrigger(
  { run }: TestEngine,
  engine: EngineName,
  { sqlite, postgresql }: Readonly<Record<EngineName, string>>,
): Promise<() => Promise<void>> {
  if (engine === 'sqlite') {
    await run(`create trigger meddle ${sqlite}`);
    return () => run('drop trigger meddle');
  }
  await run(
    `create function meddle() returns trigger language plpgsql as
      $$ begin ${postgresql} return new; end $$`,
  );
  await run('create trigger meddle before insert on pets for each row execute function meddle()');
  return () => run('drop trigger meddle on pets');
}
