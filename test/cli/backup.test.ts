/** `petstore backup`: what it says, and which backups `--keep` removes. */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { backUp } from '../../src/cli/commands/back-up-store.ts';
import { openStore } from '../../src/storage/open.ts';
import { runCommand } from '../support/command.ts';
import { disposable } from '../support/disposable.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { Transcript } from './transcript.ts';

describe('backup', () => {
  const cwd = createProcessFolder();

  test('backup › to a file, and with --keep to folders that are not there › is for its owner only', async () => {
    await runCommand(['pets', 'add', '--name', 'Rex', '--category-id', '3'], { cwd });
    const { status, stdout, stderr } = await runCommand(['backup', 'copy.db'], { cwd });
    const said = `The store is copied to copy.db.\nStore: sqlite:${cwd}/petstore.db\n`;
    assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: said });
    const exported = await runCommand(['pets', 'export', '--database', 'sqlite:copy.db'], { cwd });
    assert.equal(exported.stdout, '{"id":1,"name":"Rex","categoryId":3}\n');
    await runCommand(['backup', '--keep', '1', 'new/backups'], { cwd });
    assert.equal((await readdir(join(cwd, 'new/backups'))).length, 1);
    for (const folder of ['new', 'new/backups']) {
      assert.equal((await stat(join(cwd, folder))).mode & 0o777, 0o700);
    }
  });

  test('backup › below a file › exits with 1 and one line', async () => {
    await writeFile(join(cwd, 'file'), 'Rex');
    const { status, stderr } = await runCommand(['backup', '--keep', '1', 'file'], { cwd });
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^petstore: file\/petstore-[^\n]*Z\.db cannot be written: its folder [^\n]*\n$/,
    );
  });
});

describe('backup --keep', () => {
  const UUID = '0b6c1f3e-9a57-4d2c-8e10-5f4b7a9c2d6e';
  const OTHERS = [
    'petstore.db',
    'petstore-2026-01-01.db',
    'petstore-2026-01-01T000000Z.db.bak',
    'my-petstore-2026-01-01T000000Z.db',
    'petstore-2026-01-01T000000Z.db.b1f6.partial',
    `petstore.db.${UUID}.partial`,
    `petstore-2026-01-01T000000Z.db.${UUID}.partial.bak`,
    `my-petstore-2026-01-01T000000Z.db.${UUID}.partial`,
  ];
  const at = (day: number) => `petstore-2026-11-${day}T043000Z.db`;
  const partialAt = (day: number, time = '043000') =>
    `petstore-2026-11-${day}T${time}Z.db.${UUID}.partial`;

  /** A new store, a folder with the files, and what is told on a standard error. */
  async function prepare(files: readonly string[], stderr = new Transcript()) {
    const folder = createProcessFolder();
    const store = disposable(await openStore(`sqlite:${folder}/store.db`, { create: true }));
    const target = join(folder, 'backups');
    await mkdir(target);
    for (const file of files) await writeFile(join(target, file), 'Rex');
    return {
      store,
      target,
      list: async () => (await readdir(target)).sort(),
      told: () => stderr.text.replaceAll(`${target}/`, ''),
      backUp: (keep: number, day: number) =>
        backUp(store, target, keep, stderr, new Date(Date.UTC(2026, 10, day, 4, 30, 0, 999))),
      [Symbol.asyncDispose]: () => store.close(),
    };
  }

  test('backup --keep › more than are kept › removes the oldest of its own names alone', async () => {
    await using prepared = await prepare([at(10), at(12), at(11), ...OTHERS]);
    await prepared.backUp(2, 13);
    assert.deepEqual(await prepared.list(), [at(12), at(13), ...OTHERS].sort());
    assert.equal(
      prepared.told(),
      `The store is copied to ${at(13)}.\nRemoved ${at(11)}.\nRemoved ${at(10)}.\n`,
    );
  });

  test('backup --keep › of one, by a clock that was set back › keeps the new one', async () => {
    await using prepared = await prepare([at(20), at(21)]);
    await prepared.backUp(1, 13);
    assert.deepEqual(await prepared.list(), [at(13)]);
  });

  test('backup --keep › a backup of this second is there › fails and removes none', async () => {
    const files = [partialAt(10), at(10), at(13)].sort();
    await using prepared = await prepare(files);
    await assert.rejects(prepared.backUp(1, 13), /exists already; nothing was copied$/);
    assert.deepEqual(await prepared.list(), files);
  });

  test('backup --keep › parts that backups left › removes those of more than a day ago', async () => {
    const old = [partialAt(10), `${partialAt(11)}-wal`, `${partialAt(11)}-shm`];
    const older = [...old, `${partialAt(11)}-journal`, partialAt(12, '042959')].sort();
    const young = [partialAt(12), partialAt(12, '043001'), partialAt(13), partialAt(14)];
    await using prepared = await prepare([at(11), ...older, ...young, ...OTHERS]);
    await prepared.backUp(2, 13);
    assert.deepEqual(await prepared.list(), [at(11), at(13), ...young, ...OTHERS].sort());
    const removed = older.map((name) => `Removed ${name}.\n`).join('');
    assert.equal(prepared.told(), `The store is copied to ${at(13)}.\n${removed}`);
  });

  test('backup --keep › a part under the name that a backup under way has › removes it', async () => {
    await using prepared = await prepare([]);
    const { store, target } = prepared;
    let part = '';
    await store.backup(join(target, at(10)), () => {
      part = readdirSync(target).join();
    });
    await writeFile(join(target, part), 'Rex');
    await prepared.backUp(2, 13);
    assert.deepEqual(await prepared.list(), [at(10), at(13)]);
    assert.ok(prepared.told().endsWith(`\nRemoved ${part}.\n`));
  });

  test('backup --keep › on a terminal › shows a bar until it is done', async () => {
    await using prepared = await prepare([], new Transcript(true));
    await prepared.backUp(1, 13);
    const [bar, line] = prepared.told().split('\r\x1b[K').slice(-2);
    assert.equal(bar, 'checking');
    assert.equal(line, `The store is copied to ${at(13)}.\n`);
  });
});
