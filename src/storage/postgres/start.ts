/** A start besides the layout: it waits for the database, and checks the rights and the sequences. */

import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../error.ts';
import type { OpenOptions } from '../engine.ts';
import { NUMBERED, RIGHTS } from '../tables.ts';
import type { Connection } from './connection.ts';
import { isAway, LACKS_INDEX, toPasted, toSequenceRemedy } from './errors.ts';
import { toLastId } from './settled-mark.ts';

const TRY_PAUSE_MS = 500;
const WARNING_PAUSE_MS = 5_000;

const NEEDED = RIGHTS.flatMap(([table, rights]) =>
  rights.map((right) => `('${table}', '${right}')`),
);

/** It leaves out a missing table, which a migration makes. */
const FIND_MISSING = `select quote_ident(current_user), name, string_agg(privilege, ', ' order by privilege)
  from (values ${NEEDED}) as needed (name, privilege)
  where not has_table_privilege(to_regclass(name), privilege)
  group by name order by name`;

/** The work's result. While the database is away, the work is done again for `startTimeout` seconds. */
export async function waitWhileAway<T>(
  { startTimeout = 0, warn = () => undefined }: OpenOptions,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + startTimeout * 1_000;
  let nextWarningAt = 0;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const now = performance.now();
      if (!isAway(error) || now >= deadline) throw error;
      if (now >= nextWarningAt) {
        nextWarningAt = now + WARNING_PAUSE_MS;
        warn(`${error.message}; trying again for ${Math.ceil((deadline - now) / 1_000)} s`);
      }
      await sleep(Math.min(TRY_PAUSE_MS, deadline - now));
    }
  }
}

/** Without these, creates fail or double pets. A store of any layout has them. */
const INDEXES = `api_keys_pkey api_keys_digest_key pets_pkey
  idempotency_keys_pkey idempotency_keys_pet_id_key`.split(/\s+/);

/** A restore makes them after all rows. They are seen as of one time: another process may make the layout. */
const FIND_LACKING = `select name from pg_class as made, unnest(array['${INDEXES.join("','")}']) as name
  where made.oid = to_regclass('petstore_schema')
    and not exists (select from pg_class where relnamespace = made.relnamespace and relname = name)`;

/** @throws PetstoreError `unavailable` when the database has tables of this program, but lacks an index. */
export async function checkIndexes(connection: Connection): Promise<void> {
  const lacking = await connection.run(FIND_LACKING);
  if (lacking.length === 0) return;
  throw unavailable(`the database ${LACKS_INDEX}: ${lacking.join(', ')}`);
}

/** @throws PetstoreError `unavailable` when the role lacks rights. */
export async function checkRights(connection: Connection): Promise<void> {
  const missing = await connection.run(FIND_MISSING);
  if (missing.length === 0) return;
  const grants = missing.map(([role, table, rights]) => `grant ${rights} on ${table} to ${role}`);
  const what = `the role ${missing[0]?.[0]} needs more rights on the database`;
  const schema = await readSchema(connection, String(missing[0]?.[1]));
  throw unavailable(`${what}: ${toPasted(schema, grants)}`);
}

/** The schema of a table or sequence. The first schema of the path may be another one. */
async function readSchema(connection: Connection, name: string): Promise<string> {
  const sql = `select nspname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where pg_class.oid = to_regclass(?)`;
  const [row] = await connection.run(sql, name);
  return String(row?.[0]);
}

/** The tables whose sequence gives ids that are in use: it was set back, or a restore has left out its value. */
const FIND_BEHIND = NUMBERED.map(
  (name) => `select '${name}' where (${toLastId(name)}) < (select max(id) from ${name})`,
).join(' union all ');

/** @throws PetstoreError `unavailable` when a sequence gives ids that are in use. */
export async function checkSequences(connection: Connection): Promise<void> {
  const behind = await connection.run(FIND_BEHIND);
  if (behind.length === 0) return;
  const tables = behind.map(([name]) => String(name));
  const remedy = toSequenceRemedy(await readSchema(connection, String(tables[0])), tables);
  throw unavailable(`the database gives ids that are in use: ${remedy}`);
}
