/** The errors of PostgreSQL and its driver: which are retried, and what the others say to the operator. */

import pg from 'pg';
import { PetstoreError } from '../../error.ts';

/** SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
export const READ_ONLY = '25006';
export const INSUFFICIENT_PRIVILEGE = '42501';

/** The driver gives this error no code, so its text stands in the place of the code. */
export const NO_TLS = 'The server does not support SSL connections';
/** The code of the system when DNS does not answer. */
export const NAME_NOT_RESOLVED = 'EAI_AGAIN';

/** By the start of a code: an SQLSTATE, or a code of the system or TLS. */
type Reasons = readonly (readonly [start: string, reason: string])[];

const LACKS_COLUMN = 'lacks a table or column that this program needs: restore it from a backup';

/** What the operator must change. */
const LASTING: Reasons = [
  [READ_ONLY, 'is read-only'],
  ['2200H', 'cannot grow: no id is left'],
  [
    '23505',
    "gives ids that are in use: run select setval('pets_id', max(id)) from pets, or the same for api_keys",
  ],
  [
    '28000',
    'does not let this user in: pg_hba.conf may ask for TLS (sslmode=require), or has no line for this user and machine',
  ],
  ['28', 'refuses this user or its password'],
  ['3D000', 'is not there: make it with createdb'],
  ['42P07', 'has tables of another program: use a database or a schema of its own'],
  // All errors of PgBouncer itself. Without pgbouncer=true, it gets startup parameters that it refuses.
  ['08P01', 'is refused by its pooler: see its log; the address needs pgbouncer=true'],
  // The pooler has no statement of another session.
  ['26000', 'is behind a pooler: add pgbouncer=true to the address'],
  ['42703', LACKS_COLUMN],
  ['42P01', LACKS_COLUMN],
  ['3F000', 'has no schema that this user may use: see the rights in docs/postgresql.md'],
  [
    INSUFFICIENT_PRIVILEGE,
    'does not let this user do what is needed: see the rights in docs/postgresql.md',
  ],
  ['55000', 'takes no connections: its allow_connections is false'],
  ['57014', 'did not answer in time'],
  ['40', 'has too many conflicting changes'],
  ['58', 'reports an error of its disk'],
  ['ERR_TLS_CERT_ALTNAME', 'shows a certificate for another host'],
  ['CERT_', 'shows a certificate that is not trusted'],
  ['DEPTH_ZERO', 'shows a certificate that is not trusted'],
  ['SELF_SIGNED', 'shows a certificate that is not trusted'],
  ['UNABLE_TO_', 'shows a certificate that is not trusted'],
  [NO_TLS, 'does not offer TLS, which sslmode requires'],
  // It has no code either.
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client', 'asks for a password: add it to the address'],
];

/** What may pass by itself. */
const PASSING: Reasons = [
  ['08', 'cannot be reached'],
  ['53100', 'cannot grow: its disk is full'],
  ['53', 'has no room: its connections or memory are used up'],
  ['55', 'is locked by another process'],
  ['57', 'is stopping or starting'],
  ['ECONNREFUSED', 'cannot be reached: nothing listens there'],
  [NAME_NOT_RESOLVED, 'cannot be reached: DNS does not tell the address of its host'],
  ['ENOTFOUND', 'cannot be reached: its host is not known'],
];

/** Whether the connection broke, or is of no more use: its server stops, or did not answer. */
export function isBroken(error: unknown): boolean {
  const cause = toCause(error);
  if (!(cause instanceof pg.DatabaseError)) return cause !== undefined;
  return /^(?:08|57P)/.test(cause.code ?? '');
}

/** Whether the server gave no answer at all within `query_timeout`. */
export function isSilent(error: unknown): boolean {
  return toCode(error) === 'Query read timeout';
}

/**
 * Whether the database may come back by itself.
 *
 * @param mustWrite a server that takes no writes is away too: during a failover all are standbys.
 */
export function isAway(error: unknown, mustWrite: boolean): error is PetstoreError {
  if (!(error instanceof PetstoreError) || error.cause === undefined) return false;
  const code = toCode(error);
  return code === READ_ONLY ? mustWrite : findReason(code, LASTING) === undefined;
}

/** A PetstoreError, without an address, for an error that the operator can mend; any other error as it is. */
export function explain(error: unknown): unknown {
  if (error instanceof PetstoreError || error instanceof TypeError) return error;
  const code = toCode(error);
  const reason = findReason(code, LASTING) ?? findReason(code, PASSING);
  if (reason === undefined && error instanceof pg.DatabaseError) return error;
  const what = reason ?? 'cannot be reached or does not answer in time';
  return new PetstoreError('unavailable', `the database ${what}`, { cause: error });
}

/** The SQLSTATE of an error, also of an explained error. For an error of the driver its code, or else its text. */
export function toCode(error: unknown): string {
  const cause = toCause(error);
  return cause instanceof Error ? String('code' in cause ? cause.code : cause.message) : '';
}

function toCause(error: unknown): unknown {
  return error instanceof PetstoreError ? error.cause : error;
}

function findReason(code: string, reasons: Reasons): string | undefined {
  return reasons.find(([start]) => code.startsWith(start))?.[1];
}
