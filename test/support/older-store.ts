/** Stores with an older schema, in real databases. */

import { findSteps, MIGRATIONS } from '../../src/storage/migrations.ts';
import { queryOnce } from './postgres-cluster.ts';
import { alter } from './sqlite.ts';

export const OLDER_SCHEMA = MIGRATIONS.at(-1)?.from ?? 0;

const PET = `insert into pets (id, name, category_id, status) values (7, 'Rex', 1, 'sold')`;
const IDEMPOTENCY_KEY = `insert into idempotency_keys (api_key_id, name, created_at, pet_id) values (1, 'once', ${Date.now()}, 7)`;

/** Makes what the release before would make there: pet 7, and the Idempotency-Key `once` that added the pet. */
export async function createOlderStore(address: string): Promise<void> {
  const [, file] = /^sqlite:(.+)/.exec(address) ?? [];
  const steps = findSteps(0).slice(0, -1);
  const number = file ? 'pragma user_version' : 'update petstore_schema set version';
  const rows = [PET, IDEMPOTENCY_KEY];
  if (!file) rows.push("update counters set value = 7 where name = 'pets'");
  const sql = [
    ...steps.map(({ sqlite, postgres }) => (file ? sqlite : postgres)),
    `${number} = ${OLDER_SCHEMA}`,
    ...rows,
    // A step may end with a comment.
  ].join('\n;');
  if (file) alter(file, sql);
  else await queryOnce(address, sql);
}
