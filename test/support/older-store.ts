/** Stores with an older schema, in real databases. */

import { MIGRATIONS } from '../../src/storage/migrations.ts';
import { queryOnce } from './postgres-cluster.ts';
import { alter } from './sqlite.ts';

export const OLDER_SCHEMA = MIGRATIONS.at(-2)?.number ?? 0;

const PET = `insert into pets (id, name, category_id, status) values (7, 'Rex', 1, 'sold')`;
const IDEMPOTENCY_KEY = `insert into idempotency_keys (api_key_id, name, created_at, pet_id) values (1, 'once', ${Date.now()}, 7)`;

/**
 * Makes what an earlier release would make there, by default the release before: pet 7, and from schema 2 on the
 * Idempotency-Key `once` that added the pet.
 */
export async function createOlderStore(address: string, schema = OLDER_SCHEMA): Promise<void> {
  const [, file] = /^sqlite:(.+)/.exec(address) ?? [];
  const steps = MIGRATIONS.filter(({ number }) => number <= schema).map(({ sqlite, postgres }) =>
    file ? sqlite : postgres,
  );
  const number = file ? 'pragma user_version' : 'update petstore_schema set version';
  const rows = schema === 1 ? [PET] : [PET, IDEMPOTENCY_KEY];
  if (!file) rows.push("update counters set value = 7 where name = 'pets'");
  // A step may end with a comment.
  const sql = [...steps, `${number} = ${schema}`, ...rows].join('\n;');
  if (file) alter(file, sql);
  else await queryOnce(address, sql);
}
