/** A database in a folder without write permission; in a file of its own, since the whole process becomes another user. */

import assert from 'node:assert/strict';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import { createFolder, type TemporaryFolder } from '../support/temporary-folder.ts';

const NOBODY = 65_534;

let folder: TemporaryFolder;
let file: string;

describe('a folder that cannot be written', () => {
  beforeEach(async () => {
    folder = await createFolder();
    file = join(folder.path, 'store.db');
  });

  afterEach(async () => {
    await chmod(folder.path, 0o755);
    await folder[Symbol.asyncDispose]();
  });

  /** Works as another user, since root ignores permissions. */
  async function asUser<T>(work: () => Promise<T>): Promise<T> {
    if (process.getuid?.() !== 0) return work();
    process.seteuid?.(NOBODY);
    try {
      return await work();
    } finally {
      process.seteuid?.(0);
    }
  }

  test('openStore › a new database in it › is unavailable and says what to do', async () => {
    await chmod(folder.path, 0o555);
    await assert.rejects(
      asUser(() => openStore(`sqlite:${file}`, { create: true })),
      {
        name: 'PetstoreError',
        code: 'unavailable',
        message: `the database ${file} cannot be opened: its folder must exist and be writable`,
      },
    );
    assert.deepEqual(await readdir(folder.path), []);
  });

  test('openStore › a database in it › is unavailable and left as it was', async () => {
    await (await openStore(`sqlite:${file}`, { create: true })).close();
    const bytes = await readFile(file);
    await chmod(file, 0o444);
    await chmod(folder.path, 0o555);
    await assert.rejects(
      asUser(() => openStore(`sqlite:${file}`, { create: false })),
      { name: 'PetstoreError', code: 'unavailable', message: /its (?:file and its )?folder must/ },
    );
    assert.deepEqual(await readFile(file), bytes);
    assert.deepEqual(await readdir(folder.path), ['store.db']);
  });
});
