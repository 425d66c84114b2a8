/** Stores with an older layout, in real databases. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestDatabase } from './postgres.ts';
import { queryOnce } from './postgres-cluster.ts';
import { alter } from './sqlite.ts';
import { createProcessFolder } from './temporary-folder.ts';

export const OLDER_LAYOUT = 2;

/** A dump of a store of 1.0.0 by engine, and what the main branch did to make layout 5 of it. */
const FOLDER = new URL('../storage/earlier/', import.meta.url);

/** Restores a store with pets 1 to 3, the key 1, and its Idempotency-Key `once`, which added pet 3. */
export async function createOlderStore(address: string, layout = OLDER_LAYOUT): Promise<void> {
  const [, file] = /^sqlite:(.+)/.exec(address) ?? [];
  const sql = [2, 5]
    .filter((number) => number <= layout)
    .map((number) => new URL(`${file ? 'sqlite' : 'postgresql'}-${number}.sql`, FOLDER))
    .map((dump) => readFileSync(dump, 'utf8'))
    .join('');
  if (file) alter(file, sql);
  else await queryOnce(address, sql);
}

/** Such a store, as the store of commands in the folder `cwd`; `await using` removes it. */
export async function openOlder(engine: 'sqlite' | 'postgresql', layout = OLDER_LAYOUT) {
  await using stack = new AsyncDisposableStack();
  const cwd = createProcessFolder();
  const file = join(cwd, 'store.db');
  const isFile = engine === 'sqlite';
  const address = isFile ? `sqlite:${file}` : stack.use(await createTestDatabase()).address;
  await createOlderStore(address, layout);
  const opened = stack.move();
  return {
    ...{ cwd, address, env: { PETSTORE_DATABASE: address } },
    /** How messages name the database. */
    name: isFile ? `the database ${file}` : 'the database',
    version: isFile ? 'pragma user_version' : 'update petstore_schema set version',
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
