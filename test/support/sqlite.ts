/** Files of SQLite for the tests, and what else than the store is done to them. */

import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore } from '../../src/storage/open.ts';
import { createProcessFolder } from './temporary-folder.ts';

export const PAGE_BYTES = 4_096;

/** The path of a file in a new folder; the file is not there yet. */
export function createFile(): string {
  return join(createProcessFolder(), 'store.db');
}

/** A petstore's database of many pages, closed. */
export async function createDatabase(rows = 3_000, nameUnits = 3): Promise<string> {
  const file = createFile();
  await (await openStore(`sqlite:${file}`, { create: true })).close();
  // By SQLite itself: the store takes ten times as long for them.
  return alter(
    file,
    `with recursive rows (i) as (select 0 union all select i + 1 from rows where i < ${rows - 1})
      insert into pets (name, category_id, status) select printf('%.*c', ${nameUnits}, 'x') || i, 1, 'sold' from rows`,
  );
}

/** Runs SQL on the file with SQLite itself. */
export function alter(file: string, sql: string): string {
  using connection = new DatabaseSync(file);
  connection.exec(sql);
  return file;
}

/** Writes random bytes into the file, by default into its middle. */
export async function damage(file: string, from = 8 * PAGE_BYTES): Promise<string> {
  await using handle = await open(file, 'r+');
  await handle.write(randomBytes(4 * PAGE_BYTES), 0, 4 * PAGE_BYTES, from);
  return file;
}

/** What a call rejects with when that is so of the database in the file. */
export function unavailable(file: string, what: string) {
  return { name: 'PetstoreError', code: 'unavailable', message: `the database ${file} ${what}` };
}
