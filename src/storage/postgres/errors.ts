/** What PostgreSQL and its driver throw, by its SQLSTATE: what is worth another try, and the operator's words for the rest. */

import pg from 'pg';
import { PetstoreError } from '../../error.ts';

/** SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const READ_ONLY = '25006';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';

/** The reasons by which an open database may be away: the code itself, or its class. */
const REASONS: ReadonlyMap<string, string> = new Map([
  [READ_ONLY, 'is read-only'],
  ['28000', 'refuses this user'],
  ['28P01', 'refuses this user or its password'],
  ['3D000', 'is not there: make it with createdb'],
  ['42P07', 'has tables of another program: use a database or a schema of its own'],
  ['26000', 'forgets prepared statements: its pooler must keep sessions or prepared statements'],
  ['3F000', 'has no schema to make tables in'],
  ['42501', 'does not let this user do what is needed: see the rights in docs/operations.md'],
  ['57014', 'did not answer in time'],
  ['08', 'cannot be reached'],
  ['40', 'is changed by too many at once'],
  ['53', 'has no room: its connections, memory or disk are used up'],
  ['55', 'is held by another process'],
  ['57', 'is stopping or starting'],
  ['58', 'reports an error of its disk'],
]);

/** What the system and TLS say, by their codes, or how these begin (OpenSSL's X509 errors). */
const REACHES: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED/, 'cannot be reached: nothing listens there'],
  [/^ENOTFOUND/, 'cannot be reached: its host is not known'],
  [/^ERR_TLS_CERT_ALTNAME/, 'shows a certificate for another host'],
  [/^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/, 'shows a certificate that is not trusted'],
];

/** Whether the transaction was undone for the sake of another, so that it may be tried again. */
export function isConflict(error: unknown): boolean {
  const code = findCause(error)?.code;
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

/** Whether the server takes no writes. */
export function isReadOnly(error: unknown): boolean {
  return findCause(error)?.code === READ_ONLY;
}

/** Whether the connection is good for nothing more. */
export function isBroken(error: unknown): boolean {
  return /^(?:08|57P)/.test(findCause(error)?.code ?? '08');
}

/** An error of the driver in the operator's words, without an address; a fault of ours as it is. */
export function explain(error: unknown): unknown {
  if (error instanceof PetstoreError || error instanceof TypeError) return error;
  const state = findCause(error)?.code;
  const reason = state === undefined ? findReach(error) : findReason(state);
  if (reason === undefined) return error;
  return new PetstoreError('unavailable', `the database ${reason}`, { cause: error });
}

/** What the server said, which may have been explained already. */
function findCause(error: unknown): pg.DatabaseError | undefined {
  const cause = error instanceof PetstoreError ? error.cause : error;
  return cause instanceof pg.DatabaseError ? cause : undefined;
}

function findReason(state: string): string | undefined {
  return REASONS.get(state) ?? REASONS.get(state.slice(0, 2));
}

/** The driver has no codes of its own: what comes neither from the server nor from the system is a broken or silent connection. */
function findReach(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reach = REACHES.find(([pattern]) => pattern.test(code));
  return reach?.[1] ?? 'cannot be reached or does not answer in time';
}
