/** Checks the rights of a service on its tables. */

import { PetstoreError } from '../../error.ts';
import type { Connection } from './connection.ts';

/** What requests and the purge do with each table. */
const RIGHTS = {
  petstore_schema: ['select'],
  pets: ['select', 'insert'],
  counters: ['select', 'update'],
  api_keys: ['select', 'insert', 'update'],
  idempotency_keys: ['select', 'insert', 'update', 'delete'],
};

const NEEDED = Object.entries(RIGHTS).flatMap(([table, rights]) =>
  rights.map((right) => `('${table}', '${right}')`),
);

/**
 * A table that is not there yet is left out: a migration makes it. A right on columns counts: the owner may have
 * granted it for each column, which cannot be done for a delete.
 */
const FIND_MISSING = `select quote_ident(current_user), name, string_agg(privilege, ', ' order by privilege)
  from (values ${NEEDED}) as needed (name, privilege)
  where not case privilege when 'delete' then has_table_privilege(to_regclass(name), privilege)
    else has_any_column_privilege(to_regclass(name), privilege) end
  group by name order by name`;

/** @throws PetstoreError `unavailable` with the statements that give the role the rights that it lacks. */
export async function checkRights(connection: Connection): Promise<void> {
  const missing = await connection.runUnprepared(FIND_MISSING);
  if (missing.length === 0) return;
  const grants = missing.map(([role, table, rights]) => `grant ${rights} on ${table} to ${role}`);
  throw new PetstoreError(
    'unavailable',
    `the role ${missing[0]?.[0]} needs more rights on the database: ${grants.join('; ')}`,
  );
}
