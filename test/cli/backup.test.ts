/** `petstore backup`: what it says, and which backups `--keep` removes. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, type TestContext, test } from 'node:test';
import { backUpDated } from '../../src/cli/commands/back-up-store.ts';
import { openStore } from '../../src/storage/open.ts';
import { repeat } from '../storage/contract/data.ts';
import { runCommand } from '../support/command.ts';
import { importing, runProgram, signalAt } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { keepStandardError } from './standard-error.ts';

describe('backup', () => {
  const cwd = createProcessFolder();

  test('backup › to a file › is the store, and the only new file', async () => {
    await runCommand(['pets', 'add', '--name', 'Rex', '--category-id', '3'], { cwd });
    // SQLite could read the second as a URI.
    const copies = ['copy.db', 'file:copy.db?mode=rw'];
    for (const copy of copies) {
      const { status, stdout, stderr } = await runCommand(['backup', copy], { cwd });
      const said = `The store is copied to ${copy}.\nStore: sqlite:${cwd}/petstore.db\n`;
      assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: said });
      const args = ['pets', 'export', '--database', `sqlite:${copy}`];
      const exported = await runCommand(args, { cwd });
      assert.equal(exported.stdout, '{"id":1,"name":"Rex","categoryId":3}\n');
    }
    assert.deepEqual((await readdir(cwd)).sort(), [...copies, 'petstore.db']);
  });

  for (const [folder, told] of [
    ['file', 'file/petstore-DATE.db cannot be written'],
    ['file/new', 'file/new cannot be made'],
  ] as const) {
    test(`backup › --keep 1 ${folder} › exits with 1 and one line`, async () => {
      await writeFile(join(cwd, 'file'), 'Rex');
      const { status, stderr } = await runCommand(['backup', '--keep', '1', folder], { cwd });
      assert.equal(status, 1);
      const why =
        '(ENOTDIR): check its path, and the rights of this user on its file and folders; nothing was copied';
      const shown = stderr.replace(/(?<=petstore-)[-\dTZ]+/, 'DATE');
      assert.equal(shown, `petstore: ${told} ${why}\n`);
    });
  }

  test('backup and other commands that only read › while another process writes › do not wait for it', async () => {
    const folder = createProcessFolder();
    const address = `sqlite:${folder}/petstore.db`;
    await (await openStore(address, { create: true })).close();
    using other = new DatabaseSync(join(folder, 'petstore.db'));
    other.exec('begin immediate');
    for (const line of ['pets list', 'pets export', 'keys list', 'backup x.db', 'migrate']) {
      const { status, stderr } = await runCommand(line.split(' '), { cwd: folder });
      assert.equal(status, 0, stderr);
    }
    other.exec('rollback');
  });
});

describe('backup that ends early', { concurrency: 2 }, () => {
  const address = `sqlite:${createProcessFolder()}/petstore.db`;
  before(async () => {
    await using store = await openStore(address, { create: true });
    await store.pets.merge(repeat(5_000, { name: 'x'.repeat(250), categoryId: 3n }));
  });

  /** What is executed once the copy has all rows, before it gets its name. */
  const WHOLE = 'pragma journal_mode = delete';
  const FULL_DISK = ['sh', '-c', 'ulimit -f 64; exec "$0" "$@"'];
  const FULL = /^petstore: backup\.db cannot be written: [^\n]+; nothing was copied\n$/;
  const STOPPED = /^stopped: nothing was copied\n$/;

  for (const [end, content, env, within, status, told] of [
    ['SIGTERM', undefined, signalAt(WHOLE, 'SIGTERM'), [], null, STOPPED],
    ['SIGHUP', 'old', signalAt('begin; select', 'SIGHUP'), [], null, STOPPED],
    ['a full disk', undefined, {}, FULL_DISK, 1, FULL],
  ] as const) {
    const what = content === undefined ? 'a new file' : 'a file that is there';
    test(`backup › to ${what}, ended by ${end} › leaves what was there`, async () => {
      const folder = createProcessFolder();
      const file = join(folder, 'backup.db');
      if (content !== undefined) await writeFile(file, content);
      const names = await readdir(folder);
      const args = ['backup', 'backup.db', '--database', address];
      const finished = await runProgram(args, { cwd: folder, env, within });
      assert.match(finished.stderr, told);
      const ended = { status, signal: status === null ? end : null };
      assert.deepEqual({ status: finished.status, signal: finished.signal }, ended);
      assert.deepEqual(await readdir(folder), names);
      assert.equal(await readFile(file, 'utf8').catch(() => undefined), content);
    });
  }

  const MADE = new RegExp(`^The store is copied to backup\\.db\\.\nStore: ${address}\n$`);
  const SQLITE = /^SQLite format 3/;
  // `npm run suite crash` has a real disk without links.
  for (const [what, link, told, content, count] of [
    [
      'a signal once it has its name',
      "link(...names); process.kill(process.pid, 'SIGINT')",
      MADE,
      SQLITE,
      1,
    ],
    ['no links', "fail('EPERM')", MADE, SQLITE, 1],
    [
      'no links, and a file that comes meanwhile',
      "fs.writeFileSync('backup.db', 'theirs'); fail('ENOTSUP')",
      /^petstore: backup\.db exists already; nothing was copied\n$/,
      /^theirs$/,
      1,
    ],
    [
      'no links, and a disk that fails',
      "fs.renameSync = () => fail('EIO'); syncBuiltinESMExports(); fail('EPERM')",
      /^petstore: backup\.db cannot be written: EIO; nothing was copied\n$/,
      /^$/,
      0,
    ],
  ] as const) {
    test(`backup › to a new file, ${what} › is whole, or leaves what was there`, async () => {
      const cwd = createProcessFolder();
      const env = importing(`
        import fs from 'node:fs';
        import { syncBuiltinESMExports } from 'node:module';
        const link = fs.linkSync;
        const fail = (code) => { throw Object.assign(new Error(code), { code }); };
        fs.linkSync = (...names) => { ${link}; };
        syncBuiltinESMExports();
      `);
      const args = ['backup', 'backup.db', '--database', address];
      const { signal, stderr } = await runProgram(args, { cwd, env });
      assert.equal(signal, null);
      assert.match(stderr, told);
      const texts = (await readdir(cwd)).map((name) => readFileSync(join(cwd, name), 'latin1'));
      assert.match(texts.join('; '), content);
      assert.equal(texts.length, count);
    });
  }
});

describe('backup --keep', () => {
  const OTHERS = [
    'petstore.db',
    'petstore-2026-01-01.db',
    'petstore-2026-01-01T000000Z.db.bak',
    'my-petstore-2026-01-01T000000Z.db',
    'petstore-2026-01-01T000000Z.db.0b6c1f3e-9a57-4d2c-8e10-5f4b7a9c2d6e.partial',
  ];
  const at = (day: number) => `petstore-2026-11-${day}T043000Z.db`;

  /** A new store, a folder with the files, and what is told on standard error. */
  async function prepare(t: TestContext, files: readonly string[]) {
    const stderr = keepStandardError(t);
    const folder = createProcessFolder();
    const store = await openStore(`sqlite:${folder}/store.db`, { create: true });
    const target = join(folder, 'backups');
    await mkdir(target);
    for (const file of files) await writeFile(join(target, file), 'Rex');
    return {
      path: (name: string) => join(target, name),
      list: async () => (await readdir(target)).sort(),
      told: () => stderr.text.replaceAll(`${target}/`, ''),
      backUp: (keep: number, day: number) =>
        backUpDated(store, target, keep, new Date(Date.UTC(2026, 10, day, 4, 30, 0, 999))),
      [Symbol.asyncDispose]: () => store.close(),
    };
  }

  test('backup --keep › more than are kept › removes the oldest of its own names alone', async (t) => {
    await using prepared = await prepare(t, [at(10), at(12), at(11), ...OTHERS]);
    const listeners = process.listenerCount('SIGTERM');
    await prepared.backUp(2, 13);
    assert.equal(process.listenerCount('SIGTERM'), listeners);
    assert.deepEqual(await prepared.list(), [at(12), at(13), ...OTHERS].sort());
    const told = `The store is copied to ${at(13)}.\nRemoved ${at(11)}.\nRemoved ${at(10)}.\n`;
    assert.equal(prepared.told(), told);
  });

  test('backup --keep › of one, by a clock that was set back › keeps the new one', async (t) => {
    await using prepared = await prepare(t, [at(20), at(21)]);
    await prepared.backUp(1, 13);
    assert.deepEqual(await prepared.list(), [at(13)]);
  });

  test('backup --keep › beside a backup by a clock that was ahead › keeps as many others, and tells of it', async (t) => {
    await using prepared = await prepare(t, [at(10), at(11), at(21)]);
    await prepared.backUp(2, 13);
    assert.deepEqual(await prepared.list(), [at(11), at(13), at(21)]);
    const told = `The store is copied to ${at(13)}.\nRemoved ${at(10)}.\n${at(21)} has a later time: if this is wrong, rename it, or a restore takes it for the newest\n`;
    assert.equal(prepared.told(), told);
  });

  test('backup --keep › a backup of this second is there › fails and removes none', async (t) => {
    const files = [at(10), at(13)];
    await using prepared = await prepare(t, files);
    await assert.rejects(prepared.backUp(1, 13), /exists already; nothing was copied$/);
    assert.deepEqual(await prepared.list(), files);
  });

  test('backup --keep › an old backup that cannot be removed › says so, and that the new one is there', async (t) => {
    await using prepared = await prepare(t, [at(11)]);
    await mkdir(prepared.path(at(10)));
    const message = `${prepared.path(at(10))} is a folder in place of a file: move it away; the new backup is there`;
    await assert.rejects(prepared.backUp(2, 13), { code: 'unavailable', message });
    assert.deepEqual(await prepared.list(), [at(10), at(11), at(13)]);
    assert.equal(prepared.told(), `The store is copied to ${at(13)}.\n`);
  });
});
