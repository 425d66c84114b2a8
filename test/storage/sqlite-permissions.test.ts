/** A database in a folder without write permission; in a file of its own, since the whole process becomes another user. */

import assert from 'node:assert/strict';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import { createDatabase, createFile } from '../support/sqlite.ts';

const NOBODY = 65_534;
const CLOSED =
  / cannot be opened: its folder must exist, and this user must be able to write its folder and its file$/;

/** Opens it as another user, since root ignores permissions, and asserts that it is refused. */
async function assertRefused(
  file: string,
  create: boolean,
  message: RegExp,
  folderMode = 0o555,
): Promise<void> {
  await chmod(dirname(file), folderMode);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY);
  const refused = assert.rejects(openStore(`sqlite:${file}`, { create }), {
    ...{ name: 'PetstoreError', code: 'unavailable' },
    message,
  });
  await refused.finally(() => isRoot && process.seteuid?.(0));
  await chmod(dirname(file), 0o755);
}

test('openStore › a new database in a folder that cannot be written › is unavailable and says what to do', async () => {
  const file = createFile();
  await assertRefused(file, true, CLOSED);
  assert.deepEqual(await readdir(dirname(file)), []);
});

test('openStore › a database of another user in a folder that can be written › is unavailable and says what to do', async () => {
  const file = await createDatabase(1);
  await chmod(file, 0);
  await assertRefused(file, false, CLOSED, 0o777);
});

test('openStore › a database in a folder that cannot be written › is unavailable and left as it was', async () => {
  const file = await createDatabase(1);
  const bytes = await readFile(file);
  await chmod(file, 0o444);
  await assertRefused(file, false, /its (?:file and its )?folder must/);
  assert.deepEqual(await readFile(file), bytes);
  assert.deepEqual(await readdir(dirname(file)), ['store.db']);
});
