/** A start besides the schema: it waits for the database, and checks the rights on the tables and the time. */

import { setTimeout as sleep } from 'node:timers/promises';
import { PetstoreError } from '../../error.ts';
import type { OpenOptions } from '../engine.ts';
import { LIMITS } from '../limits.ts';
import { TABLES } from '../tables.ts';
import type { Connection } from './connection.ts';
import { isAway } from './errors.ts';
import type { Hosts } from './hosts.ts';

const TRY_PAUSE_MS = 500;
const WARNING_PAUSE_MS = 5_000;

const NEEDED = Object.entries(TABLES).flatMap(([table, { rights }]) =>
  rights.map((right) => `('${table}', '${right}')`),
);

/** It leaves out a missing table, which a migration makes. */
const FIND_MISSING = `select quote_ident(current_user), name, string_agg(privilege, ', ' order by privilege)
  from (values ${NEEDED}) as needed (name, privilege)
  where not has_table_privilege(to_regclass(name), privilege)
  group by name order by name`;

/** The work's result. While the database is away, the work is done again for `startTimeout` seconds. */
export async function waitWhileAway<T>(
  { mustWrite }: Hosts,
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
      if (!isAway(error, mustWrite) || now >= deadline) throw error;
      if (now >= nextWarningAt) {
        nextWarningAt = now + WARNING_PAUSE_MS;
        warn(`${error.message}; trying again for ${Math.ceil((deadline - now) / 1_000)} s`);
      }
      await sleep(Math.min(TRY_PAUSE_MS, deadline - now));
    }
  }
}

/** @throws PetstoreError `unavailable` when the role lacks rights, or the time differs too much. */
export async function checkService(connection: Connection, clock: () => number): Promise<void> {
  const missing = await connection.run(FIND_MISSING);
  const grants = missing.map(([role, table, rights]) => `grant ${rights} on ${table} to ${role}`);
  const wrong =
    missing.length > 0
      ? `the role ${missing[0]?.[0]} needs more rights on the database: ${grants.join('; ')}`
      : await findClockError(connection, clock());
  if (wrong !== undefined) throw new PetstoreError('unavailable', wrong);
}

/** Why this time is wrong, if it is. */
export async function findClockError(
  connection: Connection,
  now: number,
): Promise<string | undefined> {
  const [row] = await connection.run('select extract(epoch from clock_timestamp())');
  const seconds = Math.round(now / 1_000 - Number(row?.[0]));
  if (Math.abs(seconds) <= LIMITS.CLOCK_SECONDS_MAX) return undefined;
  const difference = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'}`;
  return `the clock of this machine is ${difference} the clock of the database: at most ${LIMITS.CLOCK_SECONDS_MAX} s are allowed`;
}
