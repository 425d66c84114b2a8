/** Stores with an older schema, in real databases. */

import { MIGRATIONS } from '../../src/storage/migrations.ts';
import { queryOnce } from './postgres-cluster.ts';
import { alter } from './sqlite.ts';

const STEPS = MIGRATIONS.slice(0, -1);
export const OLDER_SCHEMA = STEPS.length;

/** Pet 7, and the Idempotency-Key `once` that added it. */
const ROWS = `insert into pets (id, name, category_id, status) values (7, 'Rex', 1, 'sold');
  insert into idempotency_keys (api_key_id, name, created_at, pet_id) values (1, 'once', 5, 7)`;

/** Makes what the release before would make there. */
export async function createOlderStore(address: string): Promise<void> {
  const [, file] = /^sqlite:(.+)/.exec(address) ?? [];
  const steps = STEPS.map(({ sqlite, postgres }) => (file ? sqlite : postgres));
  const number = file ? 'pragma user_version' : 'update petstore_schema set version';
  const sql = [...steps, `${number} = ${OLDER_SCHEMA}`, ROWS].join(';');
  if (file) alter(file, sql);
  else await queryOnce(address, sql);
}
