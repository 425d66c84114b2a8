/** Stores with an older schema, in real databases. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestDatabase } from './postgres.ts';
import { queryOnce } from './postgres-cluster.ts';
import { alter } from './sqlite.ts';
import { createProcessFolder } from './temporary-folder.ts';

export const OLDER_SCHEMA = 2;

/** A dump of a store of 1.0.0 by engine. */
const FOLDER = new URL('../storage/earlier/', import.meta.url);

/** Restores a store with pets 1 to 3, the key 1, and its Idempotency-Key `once`, which added pet 3. */
export async function createOlderStore(address: string): Promise<void> {
  const [, file] = /^sqlite:(.+)/.exec(address) ?? [];
  const dump = `${file ? 'sqlite' : 'postgresql'}-${OLDER_SCHEMA}.sql`;
  const sql = readFileSync(new URL(dump, FOLDER), 'utf8');
  if (file) alter(file, sql);
  else await queryOnce(address, sql);
}

/** Such a store, as the store of commands in the folder `cwd`; `await using` removes it. */
export async function openOlder(engine: 'sqlite' | 'postgresql') {
  await using stack = new AsyncDisposableStack();
  const cwd = createProcessFolder();
  const file = join(cwd, 'store.db');
  const isFile = engine === 'sqlite';
  const address = isFile ? `sqlite:${file}` : stack.use(await createTestDatabase()).address;
  await createOlderStore(address);
  const opened = stack.move();
  return {
    ...{ cwd, address, env: { PETSTORE_DATABASE: address } },
    /** How messages name the database. */
    name: isFile ? `the database ${file}` : 'the database',
    version: isFile ? 'pragma user_version' : 'update petstore_schema set version',
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
