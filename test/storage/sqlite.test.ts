/** What only SQLite has: settings, files, locks, query plans. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { open, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { NewPet } from '../../src/pet.ts';
import type { Engine } from '../../src/storage/engine.ts';
import { createKeyStore } from '../../src/storage/key-store.ts';
import { APPLICATION_ID, MIGRATIONS } from '../../src/storage/migrations.ts';
import { openStore } from '../../src/storage/open.ts';
import { openSqlite } from '../../src/storage/sqlite/engine.ts';
import { createPetQueries } from '../../src/storage/sqlite/pet-queries.ts';
import { checkPages, isOlder, migrate } from '../../src/storage/sqlite/schema.ts';
import { SqliteWriter } from '../../src/storage/sqlite/writer.ts';
import { disposable } from '../support/disposable.ts';
import { runProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { nextPoll } from '../support/until.ts';
import { addOnce } from './contract/data.ts';

const REX: NewPet = { name: 'Rex', categoryId: 1n, status: 'sold' };
const PAGE_BYTES = 4096;
const READS_MIN = 10;

/** A petstore's database of many pages, closed. */
async function createDatabase(rows = 3_000, nameUnits = 3): Promise<string> {
  const file = join(createProcessFolder(), 'store.db');
  await (await openStore(`sqlite:${file}`, { create: true })).close();
  // By SQLite itself: the store takes ten times as long for them.
  alter(
    file,
    `with recursive rows (i) as (select 0 union all select i + 1 from rows where i < ${rows - 1})
      insert into pets (name, category_id, status) select printf('%.*c', ${nameUnits}, 'x') || i, 1, 'sold' from rows`,
  );
  return file;
}

/** Runs SQL on the file with SQLite itself. */
function alter(file: string, sql: string): void {
  using connection = new DatabaseSync(file);
  connection.exec(sql);
}

/** Writes random bytes into the middle of the file. */
async function damage(file: string): Promise<void> {
  await using handle = await open(file, 'r+');
  await handle.write(randomBytes(4 * PAGE_BYTES), 0, 4 * PAGE_BYTES, 8 * PAGE_BYTES);
}

describe('backup', () => {
  /** More than one step of the copy, and more than SQLite keeps in memory. */
  const PETS = 2_000;
  const NAME_UNITS = 4_000;

  test('store.backup on sqlite › while another process adds between two steps › is as of its beginning', async () => {
    const file = await createDatabase(PETS, NAME_UNITS);
    await using store = disposable(await openStore(`sqlite:${file}`, { create: false }));
    using other = new DatabaseSync(file);
    const parts: number[] = [];
    await store.backup(`${file}.backup`, (phase, part) => {
      assert.equal(phase, part === undefined ? 'checking' : 'copied');
      if (part !== undefined) parts.push(part);
      if (parts.length === 1) other.exec("insert into pets (name, category_id) values ('Tom', 1)");
    });
    const count = 'select count(*) as pets from pets';
    assert.ok(Number(other.prepare(count).get()?.pets) > PETS);
    using copy = new DatabaseSync(`${file}.backup`, { readOnly: true });
    assert.equal(copy.prepare(count).get()?.pets, PETS);
    assert.ok((parts[0] ?? 0) > 0 && (parts.at(-1) ?? 1) < 1);
    assert.deepEqual(parts, [...new Set(parts)].sort());
  });

  test('store.backup on sqlite › of a database that is damaged meanwhile › fails and makes no file', async () => {
    const file = await createDatabase(PETS, NAME_UNITS);
    await using store = disposable(await openStore(`sqlite:${file}`, { create: false }));
    await damage(file);
    await assert.rejects(store.backup(`${file}.backup`), {
      name: 'PetstoreError',
      message: `the database ${file} is damaged: restore it from a backup`,
    });
    const files = await readdir(dirname(file));
    assert.deepEqual(
      files.filter((name) => name.includes('backup')),
      [],
    );
  });
});

describe('settings', () => {
  test('a new database › seen from beside › is in WAL mode, its tables strict', async () => {
    using connection = new DatabaseSync(await createDatabase(1), { readOnly: true });
    assert.deepEqual(
      { ...connection.prepare('pragma journal_mode').get() },
      { journal_mode: 'wal' },
    );
    assert.deepEqual(
      { ...connection.prepare('pragma application_id').get() },
      { application_id: APPLICATION_ID },
    );
    const tables = connection
      .prepare(`select name, strict from pragma_table_list where name in ('pets', 'api_keys')`)
      .all();
    assert.deepEqual(tables.map(({ name, strict }) => `${name} ${strict}`).sort(), [
      'api_keys 1',
      'pets 1',
    ]);
  });

  test('a database › for its reads and its writes › is synced, bounded and trusts no schema', async () => {
    const file = join(createProcessFolder(), 'store.db');
    await using database = disposable(await openSqlite(file, { create: true }));
    const FULL = 2n;
    const settings = { synchronous: FULL, journal_size_limit: 67_108_864n, trusted_schema: 0n };
    for (const [setting, value] of Object.entries(settings)) {
      const sql = `pragma ${setting}`;
      assert.deepEqual(await database.read(sql), [[value]], setting);
      assert.deepEqual(await database.write({ sql, values: [] }), [[[value]]], setting);
    }
  });

  test('a database › a load that ended and one that failed › leave nothing staged', async () => {
    const file = join(createProcessFolder(), 'store.db');
    await using database = disposable(await openSqlite(file, { create: true }));
    async function* rows(count: number) {
      for (let row = 0; row < count; row += 1) yield ['Rex', 1n];
      if (count > 1) throw new Error('row 3 is wrong');
    }
    assert.equal(await database.load('pets', ['name', 'category_id'], rows(1)), 1);
    await assert.rejects(database.load('pets', ['name', 'category_id'], rows(2)));
    assert.deepEqual(await database.read('select name from temp.sqlite_schema'), []);
  });

  test('a database › reads of one turn, one of which fails › answers the others', async () => {
    await using database = disposable(await openSqlite(':memory:', { create: true }));
    const reads = [database.read('select 1'), database.read('select 2 from absent')];
    reads.push(database.read('select ?', 'x'));
    const settled = await Promise.allSettled(reads);
    assert.deepEqual(
      settled.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason))),
      [[[1n]], 'Error: no such table: absent', [['x']]],
    );
  });

  for (const [version, than, expected] of [
    ['3.51.2', '3.51.3', true],
    ['3.51.3', '3.51.3', false],
    ['3.51.10', '3.51.3', false],
    ['3.9.20', '3.51.3', true],
    ['3.53.0', '3.51.3', false],
    ['3.51', '3.51.3', true],
    ['4.0.0', '3.51.3', false],
    ['2.99.99', '3.51.3', true],
  ] as const) {
    test(`isOlder › ${version} than ${than} › is ${expected}`, () => {
      assert.equal(isOlder(version, than), expected);
    });
  }
});

describe('query plans', () => {
  /** The plan of SQLite for the queries of the work, one line for each step. */
  async function explain(work: (read: Engine['read']) => Promise<unknown>): Promise<string[]> {
    await using engine = disposable(await openSqlite(await createDatabase(100), { create: false }));
    const steps: string[] = [];
    await work(async (sql, ...values) => {
      const plan = await engine.read(`explain query plan ${sql}`, ...values);
      steps.push(...plan.map((step) => String(step.at(-1))));
      return engine.read(sql, ...values);
    });
    return steps;
  }

  const createQueries = (read: Engine['read']) => createPetQueries(read, () => 1);

  for (const [what, work, plan] of [
    [
      'pets.list',
      (read: Engine['read']) => createQueries(read).list({ limit: 20, after: 7n }),
      ['SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)'],
    ],
    [
      'pets.list of a status',
      (read: Engine['read']) => createQueries(read).list({ limit: 20, status: 'sold', after: 7n }),
      ['SEARCH pets USING INDEX pets_status (status=? AND rowid>?)'],
    ],
    [
      'pets.find',
      (read: Engine['read']) => createQueries(read).find(7n),
      ['SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)'],
    ],
    [
      'keys.find',
      (read: Engine['read']) =>
        createKeyStore({ read, toInsert: () => '' } as Pick<
          Engine,
          'read' | 'toInsert'
        > as Engine).find(Buffer.alloc(32)),
      ['SEARCH api_keys USING INDEX sqlite_autoindex_api_keys_1 (digest=?)'],
    ],
  ] as const) {
    test(`${what} › among many › is one search in order, nothing sorted`, async () => {
      assert.deepEqual(await explain(work), plan);
    });
  }
});

// By itself: beside other tests the reads may take longer than the writer waits.
test('pets.add › while another holds the lock for a second › waits, and reads go on', async () => {
  const file = await createDatabase(1);
  await using store = disposable(await openStore(`sqlite:${file}`, { create: false }));
  using other = new DatabaseSync(file);
  other.exec('begin immediate');
  let isAdded = false;
  const adding = store.pets.add(REX).finally(() => {
    isAdded = true;
  });
  let reads = 0;
  const end = performance.now() + 1_000;
  // If the wait blocked the event loop, there would be fewer reads.
  while (performance.now() < end || reads < READS_MIN) {
    assert.equal((await store.pets.list({ limit: 1 })).pets.length, 1);
    reads += 1;
    await setTimeout(1);
  }
  assert.equal(isAdded, false);
  other.exec('commit');
  assert.equal((await adding).id, 2n);
});

test('store.close › while its only write waits for a lock › ends once the pet is on the disk', async () => {
  const file = await createDatabase(1);
  const store = await openStore(`sqlite:${file}`, { create: false });
  await store.pets.add(REX);
  using other = new DatabaseSync(file);
  other.exec('begin immediate');
  const adding = store.pets.add(REX);
  await nextPoll();
  const closing = store.close();
  await nextPoll();
  other.exec('commit');
  assert.equal((await adding).id, 3n);
  await closing;
  assert.equal(other.prepare('select max(id) as id from pets').get()?.id, 3);
});

describe('files', { concurrency: true }, () => {
  describe('opening', { concurrency: 2 }, () => {
    test('keys create › eight at once on a database that is not there › all make their key', async () => {
      const cwd = createProcessFolder();
      const runs = Array.from({ length: 8 }, () =>
        runProgram(['keys', 'create', '--name', 'ci'], { cwd }),
      );
      for (const { status, stderr } of await Promise.all(runs)) assert.equal(status, 0, stderr);
      const address = `sqlite:${join(cwd, 'petstore.db')}`;
      await using store = disposable(await openStore(address, { create: false }));
      const ids = (await store.keys.list()).map(({ id }) => id);
      assert.deepEqual(ids, [1, 2, 3, 4, 5, 6, 7, 8]);
    });

    test('openStore › an empty file › makes it a database', async () => {
      const file = join(createProcessFolder(), 'store.db');
      await writeFile(file, '');
      await using store = disposable(await openStore(`sqlite:${file}`, { create: false }));
      assert.equal((await store.pets.add(REX)).id, 1n);
    });

    test('openStore › the schema before, with rows › keeps them, and takes what is new', async () => {
      const file = join(createProcessFolder(), 'store.db');
      const steps = MIGRATIONS.slice(0, -1);
      alter(
        file,
        `${steps.map(({ sqlite }) => sqlite).join(';')}; pragma user_version = ${steps.length};
        insert into pets (id, name, category_id, status) values (7, 'Rex', 1, 'sold');
        insert into idempotency_keys (api_key_id, name, created_at, pet_id) values (1, 'once', 5, 7)`,
      );
      await using store = disposable(await openStore(`sqlite:${file}`, { create: false }));
      assert.equal(store.isNew, false);
      const request = { keyId: 1, key: 'once', at: 6 };
      const rex = await addOnce(store.pets, REX, request);
      assert.deepEqual(rex, { ...REX, id: 7n });
      const mia = await store.pets.update(rex, { ...REX, name: 'Mia' });
      assert.deepEqual(await addOnce(store.pets, REX, request), mia);
    });

    const refused: readonly (readonly [string, () => Promise<string>, RegExp])[] = [
      [
        'of a newer petstore',
        async () => {
          const file = await createDatabase();
          alter(file, `pragma user_version = ${MIGRATIONS.length + 1}`);
          return file;
        },
        new RegExp(
          `is of a newer petstore: its schema is ${MIGRATIONS.length + 1}, this program knows up to ${MIGRATIONS.length}`,
        ),
      ],
      [
        'of another program',
        async () => {
          const file = join(createProcessFolder(), 'other.db');
          alter(file, 'create table pets (id integer primary key); insert into pets values (1)');
          return file;
        },
        /belongs to another program/,
      ],
      [
        'of another program in WAL mode',
        async () => {
          const file = join(createProcessFolder(), 'other.db');
          alter(
            file,
            'pragma journal_mode = wal; create table songs (id); pragma user_version = 1',
          );
          return file;
        },
        /belongs to another program/,
      ],
      [
        'that another program has only numbered',
        async () => {
          const file = join(createProcessFolder(), 'other.db');
          alter(file, 'pragma user_version = 1');
          return file;
        },
        /belongs to another program/,
      ],
      [
        'that another program has only marked as its own',
        async () => {
          const file = join(createProcessFolder(), 'other.db');
          alter(file, 'pragma application_id = 7');
          return file;
        },
        /belongs to another program/,
      ],
      [
        'that is a text',
        async () => {
          const file = join(createProcessFolder(), 'notes.db');
          await writeFile(file, 'buy food for Rex\n'.repeat(1_000));
          return file;
        },
        /is not an SQLite database/,
      ],
      [
        'that is one byte',
        async () => {
          const file = join(createProcessFolder(), 'byte.db');
          await writeFile(file, 'S');
          return file;
        },
        /is not an SQLite database/,
      ],
      [
        'with random bytes in its middle',
        async () => {
          const file = await createDatabase();
          await damage(file);
          return file;
        },
        /is damaged: restore it from a backup/,
      ],
      [
        'that was cut at half a page',
        async () => {
          const file = await createDatabase();
          await truncate(file, 5.5 * PAGE_BYTES);
          return file;
        },
        /is damaged: restore it from a backup/,
      ],
      [
        'that was cut within its header',
        async () => {
          const file = await createDatabase();
          await truncate(file, 50);
          return file;
        },
        /is damaged: restore it from a backup/,
      ],
    ];
    for (const [what, create, reason] of refused) {
      test(`openStore › a database ${what} › is refused and left as it was`, async () => {
        const file = await create();
        const bytes = await readFile(file);
        for (const mayCreate of [true, false]) {
          await assert.rejects(openStore(`sqlite:${file}`, { create: mayCreate }), {
            ...{ name: 'PetstoreError', code: 'unavailable' },
            message: new RegExp(`^the database ${file} ${reason.source}$`),
          });
        }
        assert.deepEqual(await readFile(file), bytes);
        assert.equal((await readdir(dirname(file))).length, 1);
      });
    }

    test('openStore › a folder, or no file and none to be made › is refused', async () => {
      const folder = createProcessFolder();
      const refusal = { name: 'PetstoreError', code: 'unavailable' };
      await assert.rejects(openStore(`sqlite:${folder}`, { create: true }), {
        ...refusal,
        message: `the database ${folder} is not a file`,
      });
      const file = join(folder, 'store.db');
      await assert.rejects(openStore(`sqlite:${file}`, { create: false }), {
        ...refusal,
        message: `there is no database ${file}`,
      });
      assert.deepEqual(await readdir(folder), []);
      // One in memory has no file that could be missing.
      await (await openStore('sqlite::memory:', { create: false })).close();
    });

    test('openStore › an SQLite that can lose commits › is refused', async (t) => {
      const { prepare } = DatabaseSync.prototype;
      t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string) {
        const old = "select '3.51.2' as version";
        return prepare.call(this, sql.includes('sqlite_version()') ? old : sql);
      });
      await assert.rejects(openStore('sqlite::memory:', { create: true }), {
        ...{ name: 'PetstoreError', code: 'unavailable' },
        message: 'SQLite 3.51.2 is too old: it must be 3.51.3 or newer, which a newer Node brings',
      });
    });

    test('openStore › a new database, and again › is new once, private, and then not written', async () => {
      const file = join(createProcessFolder(), 'store.db');
      const open = async () => {
        await using store = disposable(await openStore(`sqlite:${file}`, { create: true }));
        return store.isNew;
      };
      assert.equal(await open(), true);
      if (process.platform !== 'win32') assert.equal((await stat(file)).mode & 0o777, 0o600);
      const bytes = await readFile(file);
      assert.equal(await open(), false);
      assert.deepEqual(await readFile(file), bytes);
    });

    test('checkPages › a damaged database › is refused up to the bytes that are checked', async () => {
      const file = await createDatabase();
      await damage(file);
      using connection = new DatabaseSync(file);
      const { size } = await stat(file);
      assert.throws(() => checkPages(connection, 'store.db', size), {
        ...{ name: 'PetstoreError', code: 'unavailable' },
        message: 'the database store.db is damaged: restore it from a backup',
      });
      checkPages(connection, 'store.db', size - 1);
    });

    test('migrate › a database that a newer petstore has just migrated › is refused', async () => {
      const file = await createDatabase(1);
      alter(file, `pragma user_version = ${MIGRATIONS.length + 1}`);
      using connection = new DatabaseSync(file);
      assert.throws(() => migrate(connection, file), /is of a newer petstore/);
    });

    test('petstore › a database that is a folder › is refused in one line', async () => {
      const cwd = createProcessFolder();
      const args = ['keys', 'create', '--name', 'ci', '--database', 'sqlite:.'];
      const { status, stderr } = await runProgram(args, { cwd });
      assert.deepEqual(
        { status, stderr },
        { status: 1, stderr: 'petstore: the database . is not a file\n' },
      );
      assert.deepEqual(await readdir(cwd), []);
    });
  });

  describe('locks', { concurrency: true }, () => {
    test('pets.add › while another holds the lock for too long › is unavailable', async () => {
      const file = await createDatabase(1);
      await using store = disposable(await openStore(`sqlite:${file}`, { create: false }));
      using other = new DatabaseSync(file);
      other.exec('begin immediate');
      await assert.rejects(store.pets.add(REX), {
        name: 'PetstoreError',
        code: 'unavailable',
        message: `the database ${file} is held by another process`,
      });
      other.exec('commit');
      assert.equal((await store.pets.add(REX)).id, 2n);
    });

    test('pets.add › more than one commit takes, while another holds the lock for too long › all fail with the first', async () => {
      const file = await createDatabase(1);
      await using store = disposable(await openStore(`sqlite:${file}`, { create: false }));
      using other = new DatabaseSync(file);
      other.exec('begin immediate');
      let failed = 0;
      const adding = Array.from({ length: 2_000 }, () =>
        store.pets.add(REX).catch(() => {
          failed += 1;
        }),
      );
      await Promise.race(adding);
      await nextPoll();
      assert.equal(failed, adding.length);
      other.exec('rollback');
    });
  });
});

test('store.close › after a write that was refused › ends once those that were accepted are on the disk', async () => {
  const file = await createDatabase(1);
  const store = await openStore(`sqlite:${file}`, { create: false });
  let added = 0;
  const adding = Array.from({ length: 12_000 }, () =>
    store.pets.add(REX).then(
      () => {
        added += 1;
      },
      (error) => assert.match(error.message, /too many writes/),
    ),
  );
  await nextPoll();
  await store.close();
  const atClose = added;
  await Promise.all(adding);
  using reader = new DatabaseSync(file);
  const rows = reader.prepare('select count(*) as count from pets').get()?.count;
  assert.deepEqual({ atClose, rows }, { atClose: added, rows: added + 1 });
  assert.ok(added > 0 && added < adding.length);
});

test('pets.find › another process commits after a get at the end of a turn › is the pet of the commit for a request that then comes', async (t) => {
  const file = await createDatabase(1);
  await using store = disposable(await openStore(`sqlite:${file}`, { create: false }));
  const { id } = await store.pets.add(REX);
  let answer = (): void => undefined;
  const server = createServer((socket) => socket.on('data', () => answer())).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => client.destroy());
  await once(client, 'connect');
  await store.pets.find(id);
  await nextPoll();
  const found = new Promise((resolve) => {
    answer = () => resolve(store.pets.find(id));
  });
  // Here the store is read for a request whose key was not cached.
  await setImmediate();
  await store.pets.find(id);
  alter(file, "update pets set name = 'Mia'");
  client.write('a request');
  assert.deepEqual(await found, { id, ...REX, name: 'Mia' });
});

describe('SqliteWriter', () => {
  const WRITE = [{ sql: 'insert into t values (1) returning a', values: [] }];

  test('SqliteWriter › one that broke › fails its writes, and the next writes have another', async () => {
    const cwd = join(createProcessFolder(), 'later');
    await using writer = disposable(new SqliteWriter(join(cwd, 'store.db')));
    const starting = once(process, 'worker');
    // Its folder does not exist, so the thread ends at once.
    const breaking = assert.rejects(writer.commit([WRITE]), {
      message: 'unable to open database file',
    });
    const [broken] = await starting;
    const ended = new Promise((resolve) => broken.once('exit', resolve));
    await breaking;
    mkdirSync(cwd);
    const create = [{ sql: 'create temp table t (a)', values: [] }];
    assert.deepEqual(await writer.commit([create]), [[[]]]);
    await ended;
    assert.deepEqual(await writer.commit([WRITE]), [[[[1n]]]]);
  });

  test('SqliteWriter › closed while it waits for a lock › fails its writes and undoes them', async () => {
    const file = join(createProcessFolder(), 'store.db');
    alter(file, 'create table t (a)');
    await using writer = disposable(new SqliteWriter(file));
    await writer.commit([WRITE]);
    using other = new DatabaseSync(file);
    other.exec('begin immediate');
    const sending = assert.rejects(writer.commit([WRITE, WRITE]), { code: 'unavailable' });
    await setTimeout(100);
    const closing = writer.close();
    other.exec('commit');
    await Promise.all([sending, closing]);
    assert.deepEqual({ ...other.prepare('select count(*) as count from t').get() }, { count: 1 });
  });
});

test('pets.add › one of many at once whose failure undoes the whole transaction › leaves none of the others in the file', async () => {
  const file = await createDatabase(1);
  await using store = disposable(await openStore(`sqlite:${file}`, { create: false }));
  alter(
    file,
    `create trigger refuse before insert on pets when new.name = 'bad'
      begin select raise(rollback, 'no'); end`,
  );
  const names = ['good', 'good', 'bad', 'good', 'good'];
  const settled = await Promise.allSettled(names.map((name) => store.pets.add({ ...REX, name })));
  const acknowledged = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []));
  const { pets } = await store.pets.list({ limit: 20, after: 1n });
  assert.deepEqual(
    pets.map(({ id }) => id),
    acknowledged,
  );
  assert.equal((await store.pets.add(REX)).name, 'Rex');
});

test('pets.addAll › 50,000 pets with long names › needs memory for a few', async () => {
  const PETS = 50_000;
  const NAME_BYTES = 4_096;
  const address = `sqlite:${join(createProcessFolder(), 'store.db')}`;
  await using store = disposable(await openStore(address, { create: true }));
  let most = 0;
  async function* measured(count: number): AsyncGenerator<NewPet> {
    for (let index = 0; index < count; index += 1) {
      if (index % 100 === 0) most = Math.max(most, process.memoryUsage.rss());
      // A text with bytes of its own; repeat() gives one that shares them.
      yield { ...REX, name: Buffer.alloc(NAME_BYTES, '.').toString('latin1') };
    }
  }
  await store.pets.addAll(measured(1_000));
  const before = process.memoryUsage.rss();
  assert.equal(await store.pets.addAll(measured(PETS)), PETS);
  most = Math.max(most, process.memoryUsage.rss());
  const mib = (most - before) / 2 ** 20;
  // A few pages and batches, and what the garbage collector has not freed yet; all of them take 350 MiB.
  assert.ok(mib < 240, `${mib} MiB more`);
});

test('sqlite › a file that is removed or replaced while it is open › is written no more', async () => {
  const path = await createDatabase(1);
  await using store = disposable(await openStore(`sqlite:${path}`, { create: false }));
  for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true });
  const gone = { name: 'PetstoreError', code: 'unavailable', message: /was removed or replaced/ };
  await assert.rejects(store.pets.add({ name: 'Rex', categoryId: 3n }), gone);
  await assert.rejects(store.check(), gone);
  await (await openStore(`sqlite:${path}`, { create: true })).close();
  await assert.rejects(store.pets.add({ name: 'Rex', categoryId: 3n }), gone);
});

test('sqlite › a file that is removed after a write › is written no more from a second later on', async (t) => {
  const path = await createDatabase(1);
  await using store = disposable(await openStore(`sqlite:${path}`, { create: false }));
  let now = 2_000;
  t.mock.method(performance, 'now', () => now);
  await store.pets.add(REX);
  await rm(path);
  now += 999;
  await store.pets.add(REX);
  await store.check();
  now += 1;
  const gone = { name: 'PetstoreError', code: 'unavailable', message: /was removed or replaced/ };
  await assert.rejects(store.pets.add(REX), gone);
  await assert.rejects(store.check(), gone);
});

test('sqlite › a -wal that is removed or replaced while it is open › is written no more', async () => {
  const path = await createDatabase(1);
  await using store = disposable(await openStore(`sqlite:${path}`, { create: false }));
  const gone = {
    ...{ name: 'PetstoreError', code: 'unavailable' },
    message: new RegExp(`^the file ${path}-wal of the database was removed or replaced: `),
  };
  await rm(`${path}-wal`);
  await assert.rejects(store.pets.add(REX), gone);
  await assert.rejects(store.check(), gone);
  await writeFile(`${path}-wal`, '');
  await assert.rejects(store.pets.add(REX), gone);
  await assert.rejects(store.check(), gone);
});

test('sqlite › a -wal that is removed, of a database behind a link › is written no more', async () => {
  const path = await createDatabase(1);
  const link = join(createProcessFolder(), 'link.db');
  await symlink(path, link);
  await using store = disposable(await openStore(`sqlite:${link}`, { create: false }));
  await rm(`${path}-wal`);
  await assert.rejects(store.check(), /-wal of the database was removed or replaced/);
});

test('sqlite › a -wal that is removed after a write › loses no pet when the store is closed', async (t) => {
  const path = await createDatabase(1);
  let now = 2_000;
  t.mock.method(performance, 'now', () => now);
  {
    await using store = disposable(await openStore(`sqlite:${path}`, { create: false }));
    await store.pets.add(REX);
    await rm(`${path}-wal`);
    now += 999;
    await store.pets.add(REX);
    now += 1;
    await assert.rejects(store.pets.add(REX), /-wal of the database was removed or replaced/);
  }
  await using store = disposable(await openStore(`sqlite:${path}`, { create: false }));
  const { pets } = await store.pets.list({ limit: 10 });
  assert.deepEqual(
    pets.map(({ id }) => id),
    [1n, 2n, 3n],
  );
});

test('sqlite › a -wal that other processes write, back up and truncate › is written on', async (t) => {
  const path = await createDatabase(1);
  await using store = disposable(await openStore(`sqlite:${path}`, { create: false }));
  let now = 0;
  t.mock.method(performance, 'now', () => {
    now += 1_000;
    return now;
  });
  for (const args of [
    ['keys', 'create', '--name', 'ci'],
    ['backup', `${path}.backup`],
  ]) {
    const { status, stderr } = await runProgram([...args, '--database', `sqlite:${path}`], {
      cwd: dirname(path),
    });
    assert.equal(status, 0, stderr);
    alter(path, 'pragma wal_checkpoint(truncate)');
    await store.check();
    await store.pets.add(REX);
  }
});
