/** `petstore backup`: what it says, and which backups `--keep` removes. */

import assert from 'node:assert/strict';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { backUpDated } from '../../src/cli/commands/back-up-store.ts';
import { openStore } from '../../src/storage/open.ts';
import { runCommand } from '../support/command.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { keepStandardError } from './standard-error.ts';

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
      /^petstore: file\/petstore-[^\n]*Z\.db cannot be written: ENOTDIR: not a directory, [^\n]*\n$/,
    );
  });
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
      store,
      target,
      list: async () => (await readdir(target)).sort(),
      told: () => stderr.text.replaceAll(`${target}/`, ''),
      backUp: (keep: number, day: number) =>
        backUpDated(store, target, keep, new Date(Date.UTC(2026, 10, day, 4, 30, 0, 999))),
      [Symbol.asyncDispose]: () => store.close(),
    };
  }

  test('backup --keep › more than are kept › removes the oldest of its own names alone', async (t) => {
    await using prepared = await prepare(t, [at(10), at(12), at(11), ...OTHERS]);
    await prepared.backUp(2, 13);
    assert.deepEqual(await prepared.list(), [at(12), at(13), ...OTHERS].sort());
    assert.equal(
      prepared.told(),
      `The store is copied to ${at(13)}.\nRemoved ${at(11)}.\nRemoved ${at(10)}.\n`,
    );
  });

  test('backup --keep › of one, by a clock that was set back › keeps the new one', async (t) => {
    await using prepared = await prepare(t, [at(20), at(21)]);
    await prepared.backUp(1, 13);
    assert.deepEqual(await prepared.list(), [at(13)]);
  });

  test('backup --keep › a backup of this second is there › fails and removes none', async (t) => {
    const files = [at(10), at(13)];
    await using prepared = await prepare(t, files);
    await assert.rejects(prepared.backUp(1, 13), /exists already; nothing was copied$/);
    assert.deepEqual(await prepared.list(), files);
  });
});
