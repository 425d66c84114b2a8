/** Compares the time of a service with the clock of PostgreSQL. */

import { PetstoreError } from '../../error.ts';
import { LIMITS } from '../limits.ts';
import type { Connection } from './connection.ts';

/** What is wrong with this time, if anything. */
export async function findClockError(
  connection: Connection,
  now: number,
): Promise<string | undefined> {
  const [row] = await connection.runUnprepared('select extract(epoch from clock_timestamp())');
  const seconds = Math.round(now / 1_000 - Number(row?.[0]));
  if (Math.abs(seconds) <= LIMITS.CLOCK_SECONDS_MAX) return undefined;
  const difference = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'}`;
  return `the clock of this machine is ${difference} the clock of the database: at most ${LIMITS.CLOCK_SECONDS_MAX} s are allowed`;
}

/** @throws PetstoreError `unavailable` when something is wrong with this time. */
export async function checkClock(connection: Connection, now: number): Promise<void> {
  const clockError = await findClockError(connection, now);
  if (clockError !== undefined) throw new PetstoreError('unavailable', clockError);
}
