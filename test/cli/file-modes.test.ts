/** Who may read the files that the program makes, under a umask that would let everyone. */

import assert from 'node:assert/strict';
import { readdir, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import { REX } from '../storage/contract/data.ts';
import { runCommand } from '../support/command.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

// All that this process starts would let everybody read and write.
process.umask(0);

const skip = process.platform === 'win32' && 'modes are those of POSIX';
const cwd = createProcessFolder();

async function petstore(...args: readonly string[]): Promise<void> {
  const { status, stderr } = await runCommand(args, { cwd });
  assert.equal(status, 0, stderr);
}

async function assertPrivate(...files: readonly string[]): Promise<void> {
  for (const file of files) {
    const stats = await stat(join(cwd, file));
    const expected = stats.isDirectory() ? '700' : '600';
    assert.equal((stats.mode & 0o777).toString(8), expected, file);
  }
}

test('files › a database, its log, backups, their new folders and exports › are their owner’s alone', {
  skip,
}, async () => {
  await using store = await openStore(`sqlite:${join(cwd, 'petstore.db')}`, { create: true });
  await store.pets.add(REX);
  await petstore('backup', 'backup.db');
  await petstore('backup', '--keep', '1', 'new/backups');
  await petstore('pets', 'export', 'pets.ndjson');
  await petstore('pets', 'import', 'pets.ndjson', '--database', 'sqlite:imported.db');
  await writeFile(join(cwd, 'empty.db'), '');
  for (const file of ['copied.db', 'empty.db']) {
    await petstore('copy', '--from', 'sqlite:petstore.db', '--to', `sqlite:${file}`);
  }
  await assertPrivate('petstore.db', 'petstore.db-wal', 'petstore.db-shm');
  const [dated = '', ...others] = await readdir(join(cwd, 'new/backups'));
  assert.deepEqual(others, []);
  await assertPrivate('backup.db', 'new', 'new/backups', `new/backups/${dated}`);
  await assertPrivate('pets.ndjson', 'imported.db', 'copied.db', 'empty.db');
});

for (const command of ['keys create --name ci', 'pets import pets.csv', 'copy', 'backup']) {
  test(`${command} › to a link to no file yet › makes the file of the link, its owner’s alone`, {
    skip,
  }, async () => {
    const link = `${command.slice(0, 4)}-link.db`;
    const made = `${link}.target`;
    await symlink(made, join(cwd, link));
    await writeFile(join(cwd, 'pets.csv'), 'name,categoryId\nRex,1\n');
    await petstore('keys', 'create', '--name', 'ci', '--database', 'sqlite:source.db');
    const [from, to] = ['sqlite:source.db', `sqlite:${link}`];
    const ends: Readonly<Record<string, readonly string[]>> = {
      copy: ['--from', from, '--to', to],
      backup: [link, '--database', from],
    };
    await petstore(...command.split(' '), ...(ends[command] ?? ['--database', to]));
    await assertPrivate(made);
    assert.equal(await readlink(join(cwd, link)), made);
    await petstore('pets', 'list', '--database', to);
  });
}
