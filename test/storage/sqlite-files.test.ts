/** The file of a store on SQLite: which files are opened, refused and left as they were, and what follows when one is damaged or gone. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import {
  chmod,
  lstat,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { copyDatabase } from '../../src/storage/copy.ts';
import { APPLICATION_ID, LAYOUT } from '../../src/storage/migrations.ts';
import { copyStore, fillStore, openStore } from '../../src/storage/open.ts';
import { SETTINGS, SqliteConnection } from '../../src/storage/sqlite/connection.ts';
import { openSqlite } from '../../src/storage/sqlite/engine.ts';
import { finishCopy, isInconsistent, migrate } from '../../src/storage/sqlite/layout.ts';
import { OLDER_LAYOUT, openOlder } from '../support/older-store.ts';
import { runProgram } from '../support/program.ts';
import {
  alter,
  createDatabase,
  createFile,
  damage,
  PAGE_BYTES,
  unavailable,
} from '../support/sqlite.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { listAll, REX, repeat, toRange } from './contract/data.ts';

/** The layout of the next release. */
const NEWER = LAYOUT + 1;

/** A file with that in it. */
async function write(bytes: string | Buffer): Promise<string> {
  const file = createFile();
  await writeFile(file, bytes);
  return file;
}

/** A file of a process that writes its first pets, such as its -wal. */
async function readFirst(end: '' | '-wal'): Promise<Buffer> {
  const file = createFile();
  await using store = await openStore(`sqlite:${file}`, { create: true });
  await store.pets.add(REX);
  return await readFile(file + end);
}

/** A file of another program. */
const createBy = (sql: string) => async () => alter(createFile(), sql);

/** A database that was cut at that many bytes. */
async function cut(bytes: number): Promise<string> {
  const file = await createDatabase();
  await truncate(file, bytes);
  return file;
}

async function assertLeft(file: string, bytes: Buffer): Promise<void> {
  assert.deepEqual(await readFile(file), bytes);
  assert.equal((await readdir(dirname(file))).length, 1);
}

const toFile = (address: string) => address.replace('sqlite:', '');

const FOREIGN = 'belongs to another program';
const WITHOUT_WAL =
  'is without its -wal file, which has its pets: stop the service, and move all files of the database together';
const ONLY_WAL =
  'is missing or empty, but its -wal file has pets: put the database back, and move all its files together';
const DAMAGED = 'is damaged: move all its files away, then restore a backup';

test('store.backup on sqlite › while another process adds between two steps › is as of its beginning', async () => {
  // More than one step of the copy, and more than SQLite keeps in memory.
  const PETS = 2_000;
  const file = await createDatabase(PETS, 4_000);
  await using store = await openStore(`sqlite:${file}`, { create: false });
  using other = new DatabaseSync(file);
  let isCopying = true;
  const copying = store.backup(`${file}.backup`).finally(() => {
    isCopying = false;
  });
  while (isCopying) {
    other.exec("insert into pets (name, category_id) values ('Tom', 1)");
    await nextTurn();
  }
  await copying;
  const count = 'select count(*) as pets from pets';
  const added = Number(other.prepare(count).get()?.pets) - PETS;
  using copy = new DatabaseSync(`${file}.backup`, { readOnly: true });
  const copied = Number(copy.prepare(count).get()?.pets) - PETS;
  // A pet may be added before the copy begins, and none that is added in its steps is copied.
  assert.ok(added > 1 && copied < added / 2, `${copied} of ${added} that were added are copied`);
});

for (const [what, damageSome] of [
  ['in its middle', damage],
  // The backup finds this damage before its check.
  ['in its first page', (file: string) => damage(file, 100)],
] as const) {
  test(`store.backup on sqlite › a database that was damaged ${what} since › fails, and leaves no file`, async () => {
    const file = await createDatabase();
    await using store = await openStore(`sqlite:${file}`, { create: false });
    // The commit makes the store read the pages again.
    alter(file, "insert into pets (name, category_id) values ('Tom', 1); pragma wal_checkpoint");
    await damageSome(file);
    await assert.rejects(store.backup(`${file}.backup`), unavailable(file, DAMAGED));
    const names = await readdir(dirname(file));
    assert.deepEqual(
      names.filter((name) => name.includes('backup')),
      [],
    );
  });
}

for (const [what, end, fill] of [
  ['copyStore', '-wal', (to: string, from: string) => copyStore(from, to)],
  ['copyStore', '-journal', (to: string, from: string) => copyStore(from, to)],
  ['fillStore', '-wal', (to: string) => fillStore(to, false, ({ pets }) => pets.add(REX))],
  [
    'fillStore, while it works,',
    '-wal',
    (to: string) => fillStore(to, false, () => writeFile(`${toFile(to)}-wal`, 'Rex')),
  ],
  [
    'store.backup',
    '-wal',
    async (to: string, from: string) => {
      await using store = await openStore(from, { create: false });
      await store.backup(toFile(to));
    },
  ],
] as const) {
  test(`${what} › to a new file beside an old ${end} › is refused, and leaves this as it was`, async () => {
    const file = createFile();
    const log = `${file}${end}`;
    if (!what.includes('while')) await writeFile(log, 'Rex');
    const message = `${log} is of another database: put that back, or move it away`;
    const filling = fill(`sqlite:${file}`, `sqlite:${await createDatabase(1)}`);
    await assert.rejects(filling, { name: 'PetstoreError', code: 'bad_request', message });
    assert.equal(await readFile(log, 'utf8'), 'Rex');
    assert.deepEqual(await readdir(dirname(file)), [`store.db${end}`]);
  });
}

test('finishCopy › an empty file › is refused', async () => {
  const file = await write('');
  assert.throws(() => finishCopy(file), { message: `the database ${file} ${DAMAGED}` });
});

describe('opening', { concurrency: 2 }, () => {
  test('keys create › three at once on a database that is not there › all make their key', async () => {
    const cwd = createProcessFolder();
    const runs = Array.from({ length: 3 }, () =>
      runProgram(['keys', 'create', '--name', 'ci'], { cwd }),
    );
    for (const { status, stderr } of await Promise.all(runs)) assert.equal(status, 0, stderr);
    const address = `sqlite:${join(cwd, 'petstore.db')}`;
    await using store = await openStore(address, { create: false });
    const ids = (await store.keys.list()).map(({ id }) => id);
    assert.deepEqual(ids, [1, 2, 3]);
  });

  for (const [what, create, reason] of [
    [
      'of a newer petstore',
      () => createDatabase().then((file) => alter(file, `pragma user_version = ${NEWER}`)),
      `is of a newer petstore: its layout is ${NEWER}, this program knows up to ${LAYOUT}`,
    ],
    [
      'of an older petstore',
      async () => join((await openOlder('sqlite')).cwd, 'store.db'),
      `is of an older petstore: its layout is ${OLDER_LAYOUT}, this program needs ${LAYOUT}: back it up with the older release, then run petstore migrate`,
    ],
    ['of another program', createBy('create table pets (id integer primary key)'), FOREIGN],
    ['that another program has only numbered', createBy('pragma user_version = 1'), FOREIGN],
    ['that another program has only marked', createBy('pragma application_id = 7'), FOREIGN],
    [
      'that is a text',
      () => write('buy food for Rex\n'.repeat(1_000)),
      'is not an SQLite database',
    ],
    ['with random bytes', () => createDatabase().then(damage), DAMAGED],
    [
      'of a petstore that lost its tables',
      createBy(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${LAYOUT}`),
      DAMAGED,
    ],
    ['that was copied without its -wal', async () => write(await readFirst('')), WITHOUT_WAL],
    ['that was cut at half a page', () => cut(5.5 * PAGE_BYTES), DAMAGED],
    ['that was cut within its header', () => cut(50), DAMAGED],
  ] as const) {
    test(`openStore › a database ${what} › is refused and left as it was`, async () => {
      const file = await create();
      const bytes = await readFile(file);
      for (const mayCreate of [true, false]) {
        await assert.rejects(
          openStore(`sqlite:${file}`, { create: mayCreate }),
          unavailable(file, reason),
        );
      }
      await assertLeft(file, bytes);
    });
  }

  for (const [what, make] of [
    ['an empty file', () => write('')],
    ['a database without tables', createBy('create table t (id integer); drop table t')],
  ] as const) {
    test(`openStore › ${what} that is not to be made › is refused and left as it was`, async () => {
      const file = await make();
      await chmod(file, 0o644);
      const bytes = await readFile(file);
      const message = `there is no petstore in ${file}: serve, keys create or pets import makes one`;
      const refusal = { name: 'PetstoreError', code: 'unavailable', message };
      const address = `sqlite:${file}`;
      await assert.rejects(openStore(address, { onlyReads: true }), refusal);
      await assert.rejects(
        fillStore(address, true, () => assert.fail('it has none')),
        refusal,
      );
      await assertLeft(file, bytes);
      assert.equal((await stat(file)).mode & 0o777, 0o644);
    });
  }

  for (const [what, isEmptied, isLink] of [
    ['missing', false, false],
    ['missing behind a link', false, true],
    ['emptied', true, false],
  ] as const) {
    test(`openStore › a database that is ${what}, with pets in its -wal › is refused, and the -wal left as it was`, async () => {
      const file = createFile();
      const wal = await readFirst('-wal');
      await writeFile(`${file}-wal`, wal);
      if (isEmptied) await writeFile(file, '');
      const opened = isLink ? join(createProcessFolder(), 'link.db') : file;
      if (isLink) await symlink(file, opened);
      const names = await readdir(dirname(file));
      for (const create of [true, false]) {
        const opening = openStore(`sqlite:${opened}`, { create });
        await assert.rejects(opening, unavailable(opened, ONLY_WAL));
      }
      assert.deepEqual(await readFile(`${file}-wal`), wal);
      assert.deepEqual(await readdir(dirname(file)), names);
    });
  }

  test('openStore › a backup beside the -wal of another database › is refused, and both left as they were', async () => {
    const file = await createDatabase(1);
    await copyStore(`sqlite:${file}`, `sqlite:${file}.backup`);
    const link = join(createProcessFolder(), 'link.db');
    await symlink(`${file}.backup`, link);
    const wal = `${file}.backup-wal`;
    await writeFile(wal, await readFirst('-wal'));
    const bytes = await readBoth();
    for (const opened of [`${file}.backup`, link]) {
      await assert.rejects(openStore(`sqlite:${opened}`, { create: true }), {
        ...{ name: 'PetstoreError', code: 'bad_request' },
        message: `${wal} is of another database: put that back, or move it away`,
      });
    }
    assert.deepEqual(await readBoth(), bytes);

    function readBoth() {
      return Promise.all([readFile(`${file}.backup`), readFile(wal)]);
    }
  });

  test('openStore › a folder, or a link to itself › is refused with what to look at', async () => {
    const folder = createProcessFolder();
    const link = createFile();
    await symlink(link, link);
    const unreachable =
      'cannot be reached (ELOOP): check its path, and the rights of this user on its file and folders';
    for (const [file, reason] of [
      [folder, 'is a folder: name a file in it'],
      [link, unreachable],
    ] as const) {
      const refusal = unavailable(file, reason);
      await assert.rejects(openStore(`sqlite:${file}`, { create: true }), refusal);
    }
    assert.deepEqual(await readdir(folder), []);
  });

  test('openStore › an SQLite that can lose commits › is refused, a newer one is good', async (t) => {
    const { prepare } = DatabaseSync.prototype;
    let version = '3.51.2';
    t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string) {
      const other = `select '${version}' as version`;
      return prepare.call(this, sql.includes('sqlite_version()') ? other : sql);
    });
    const open = () => openStore('sqlite::memory:', { create: true });
    await assert.rejects(open, {
      ...{ name: 'PetstoreError', code: 'unavailable' },
      message: 'SQLite 3.51.2 is too old: it must be 3.51.3 or newer, which a newer Node brings',
    });
    for (version of ['3.51.3', '3.51.10']) await (await open()).close();
  });

  for (const [what, sql, errcode, left, told = /the disk is full/] of [
    ['on a full disk', 'begin', 13, []],
    ['without room for its -shm', 'begin', 4874, []],
    ['whose -wal is shorter than it must be', 'begin', 522, [], /is without its -wal file/],
    ['behind a link, on a full disk', 'begin', 13, []],
    ['on a disk that is full after the first page', 'begin immediate', 13, []],
    // Another process may have it open.
    ['that cannot be opened', 'begin', 14, ['store.db'], /cannot be opened/],
    ['on a full disk, with pets of another process', 'begin', 13, ['store.db', 'store.db-wal']],
  ] as const) {
    test(`openStore › a new database ${what} › leaves ${left.length} files`, async (t) => {
      const file = createFile();
      const opened = what.includes('link') ? join(createProcessFolder(), 'link.db') : file;
      if (opened !== file) await symlink(file, opened);
      const { exec } = DatabaseSync.prototype;
      t.mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, given: string) {
        if (!given.startsWith(sql)) return exec.call(this, given);
        if (left.length === 2) writeFileSync(`${file}-wal`, 'its first commit');
        throw Object.assign(new Error('SQLite'), { errcode });
      });
      const opening = openStore(`sqlite:${opened}`, { create: true });
      await assert.rejects(opening, { code: 'unavailable', message: told });
      assert.deepEqual(await readdir(dirname(file)), left);
      assert.equal(
        (await lstat(opened).catch(() => undefined))?.isSymbolicLink() ?? false,
        opened !== file,
      );
    });
  }

  test('openStore › a new database, and again › is new once, and then not written', async () => {
    const file = createFile();
    const open = async () => {
      await using store = await openStore(`sqlite:${file}`, { create: true });
      return store.foundLayout;
    };
    assert.equal(await open(), 0);
    const bytes = await readFile(file);
    assert.equal(await open(), LAYOUT);
    assert.deepEqual(await readFile(file), bytes);
  });

  test('openStore › an empty file behind a link, also while it is open › is opened as a new database', async () => {
    const file = createFile();
    const link = join(dirname(file), 'link.db');
    await writeFile(file, '');
    await symlink(file, link);
    await using _first = await openStore(`sqlite:${link}`, { create: true });
    await using second = await openStore(`sqlite:${link}`, { create: false });
    assert.equal((await second.pets.add(REX)).id, 1n);
  });

  test('isInconsistent › a damaged database › is found up to the bytes that are checked', async () => {
    const file = await createDatabase();
    await damage(file);
    using connection = new SqliteConnection(file, 0);
    const { size } = await stat(file);
    assert.equal(isInconsistent(connection, size), true);
    assert.equal(isInconsistent(connection, size - 1), false);
  });

  test('copyDatabase › from a database that is damaged since it was opened › names it, and not the new one', async () => {
    const file = await createDatabase(20_000, 200);
    await using from = await openSqlite(file, {});
    await using to = await openSqlite(createFile(), { create: true });
    // SQLite has the first pages in memory.
    await damage(file, 700 * PAGE_BYTES);
    const message = `the store to copy from: the database ${file} ${DAMAGED}`;
    await assert.rejects(copyDatabase(from, to), { code: 'unavailable', message });
  });

  test('migrate › a database that a newer petstore has just migrated › is refused', async () => {
    const file = await createDatabase(1);
    alter(file, `pragma user_version = ${LAYOUT + 1}`);
    using connection = new SqliteConnection(file, 0);
    assert.throws(() => migrate(connection), /is of a newer petstore/);
  });
});

for (const [what, end, isLink] of [
  ['the file', '', false],
  ['its -wal', '-wal', false],
  ['the -wal of a database behind a link', '-wal', true],
] as const) {
  test(`a file of SQLite › ${what}, removed or replaced while it is open › is written no more`, async () => {
    const path = await createDatabase(1);
    const link = join(createProcessFolder(), 'link.db');
    await symlink(path, link);
    const address = `sqlite:${isLink ? link : path}`;
    await using store = await openStore(address, { create: false });
    const gone = {
      ...{ name: 'PetstoreError', code: 'unavailable' },
      message: new RegExp(`^the file ${path}${end} of the database was removed or replaced: `),
    };
    await rm(`${path}${end}`);
    for (const _ of ['removed', 'replaced']) {
      await assert.rejects(store.pets.add(REX), gone);
      await assert.rejects(store.pets.merge(repeat(2)), gone);
      await assert.rejects(store.pets.remove([toRange(1)]), gone);
      await assert.rejects(store.check(), gone);
      assert.equal((await listAll(store)).length, 1);
      await writeFile(`${path}${end}`, '');
    }
  });
}

test('a file of SQLite › a -wal that is removed after a write › loses no pet when the store is closed', async () => {
  const path = await createDatabase(1);
  {
    await using store = await openStore(`sqlite:${path}`, { create: false });
    await store.pets.add(REX);
    await rm(`${path}-wal`);
    await assert.rejects(store.pets.add(REX), /-wal of the database was removed or replaced/);
  }
  await using store = await openStore(`sqlite:${path}`, { create: false });
  const { pets } = await store.pets.list({ limit: 10 });
  assert.deepEqual(
    pets.map(({ id }) => id),
    [1n, 2n],
  );
});

test('a file of SQLite › a -wal that others write, back up and truncate › is written on', async () => {
  const path = await createDatabase(1);
  await using store = await openStore(`sqlite:${path}`, { create: false });
  await using other = await openStore(`sqlite:${path}`, { create: false });
  for (const work of [() => other.pets.add(REX), () => other.backup(`${path}.backup`)]) {
    await work();
    alter(path, 'pragma wal_checkpoint(truncate)');
    await store.check();
    await store.pets.add(REX);
  }
});

test('SqliteConnection › a statement against the schema › is refused', () => {
  using connection = new SqliteConnection(':memory:', 0);
  connection.exec(SETTINGS);
  connection.exec('create table t (id integer); pragma writable_schema = on');
  assert.throws(() => connection.exec('delete from sqlite_schema'), /may not be modified/);
});
