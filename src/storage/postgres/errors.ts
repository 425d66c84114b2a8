/** The errors of PostgreSQL and its driver: which are retried, and what the others say to the operator. */

import pg from 'pg';
import { PetstoreError } from '../../error.ts';

/** SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
export const READ_ONLY = '25006';
/** A lock was not free within `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = '55P03';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
/** A create fails with it when another process has just used its idempotency key (pet-inserts.ts). */
const NOT_NULL_VIOLATION = '23502';
export const INSUFFICIENT_PRIVILEGE = '42501';
const TOO_MANY_CONNECTIONS = '53300';
/** All errors of PgBouncer itself have this code. */
const PROTOCOL_VIOLATION = '08P01';

type Reason = readonly [start: string, reason: string];

/** What only the operator can change, by the start of an error code of TLS (OpenSSL's X509 errors). */
const SETTING_REASONS: readonly Reason[] = [
  ['ERR_TLS_CERT_ALTNAME', 'shows a certificate for another host'],
  ...['CERT_', 'DEPTH_ZERO', 'SELF_SIGNED', 'UNABLE_TO_'].map(
    (start): Reason => [start, 'shows a certificate that is not trusted'],
  ),
  // The driver gives these errors no code, so their text stands in the place of the code.
  ['The server does not support SSL', 'does not offer TLS, which sslmode requires'],
  [
    'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be',
    'asks for a password: add it to the address',
  ],
];

/** What is wrong, by the start of an SQLSTATE or of an error code of the system. The first row counts. */
const REASONS: readonly Reason[] = [
  ...SETTING_REASONS,
  [READ_ONLY, 'is read-only'],
  ['22003', 'cannot grow: no id is left'],
  ['28000', 'refuses this user'],
  ['28P01', 'refuses this user or its password'],
  ['3D000', 'is not there: make it with createdb'],
  ['42P07', 'has tables of another program: use a database or a schema of its own'],
  [PROTOCOL_VIOLATION, 'is refused by its pooler: see the log of the pooler'],
  [
    '26000',
    'is behind a pooler that forgets prepared statements: add pgbouncer=true to the address',
  ],
  ['3F000', 'has no schema that this user may use: see the rights in docs/postgresql.md'],
  [
    INSUFFICIENT_PRIVILEGE,
    'does not let this user do what is needed: see the rights in docs/postgresql.md',
  ],
  ['57014', 'did not answer in time'],
  ['08', 'cannot be reached'],
  ['40', 'has too many conflicting changes'],
  ['53', 'has no room: its connections, memory or disk are used up'],
  ['55', 'is locked by another process'],
  ['57', 'is stopping or starting'],
  ['58', 'reports an error of its disk'],
  ['ECONNREFUSED', 'cannot be reached: nothing listens there'],
  ['ENOTFOUND', 'cannot be reached: its host is not known'],
];

/** Whether the database rolled the transaction back because of another transaction; it may be retried. */
export function isConflict(error: unknown): boolean {
  return [SERIALIZATION_FAILURE, DEADLOCK_DETECTED, NOT_NULL_VIOLATION].includes(toCode(error));
}

/** Whether the connection broke, or is of no more use: its server stops, or did not answer. */
export function isBroken(error: unknown): boolean {
  const cause = toCause(error);
  if (!(cause instanceof pg.DatabaseError)) return cause !== undefined;
  return /^(?:08|57P)/.test(cause.code ?? '');
}

/**
 * Whether the database may come back by itself.
 *
 * @param mustWrite a server that takes no writes is away too: during a failover all are standbys.
 */
export function isAway(error: unknown, mustWrite: boolean): error is PetstoreError {
  if (!(error instanceof PetstoreError)) return false;
  const code = toCode(error);
  if (code === TOO_MANY_CONNECTIONS || (mustWrite && code === READ_ONLY)) return true;
  const isSetting = findReason(code, SETTING_REASONS) !== undefined;
  return isBroken(error) && code !== PROTOCOL_VIOLATION && !isSetting;
}

/** The error that a read-only server would answer to a write. */
export function createReadOnlyError(): unknown {
  const cause = new pg.DatabaseError('read-only', 0, 'error');
  return explain(Object.assign(cause, { code: READ_ONLY }));
}

/**
 * A PetstoreError, without an address, for an error that the operator can mend; any other error as it is.
 *
 * @param poolerHint the end of the message when a pooler refuses.
 */
export function explain(error: unknown, poolerHint = ''): unknown {
  if (error instanceof PetstoreError || error instanceof TypeError) return error;
  const code = toCode(error);
  const reason = findReason(code, REASONS);
  if (reason === undefined && error instanceof pg.DatabaseError) return error;
  const what = reason ?? 'cannot be reached or does not answer in time';
  const hint = code === PROTOCOL_VIOLATION ? poolerHint : '';
  return new PetstoreError('unavailable', `the database ${what}${hint}`, { cause: error });
}

/** The SQLSTATE of an error, also of an explained error. For an error of the driver its code, or else its text. */
export function toCode(error: unknown): string {
  const cause = toCause(error);
  return cause instanceof Error ? String('code' in cause ? cause.code : cause.message) : '';
}

function toCause(error: unknown): unknown {
  return error instanceof PetstoreError ? error.cause : error;
}

function findReason(code: string, reasons: readonly Reason[]): string | undefined {
  return reasons.find(([start]) => code.startsWith(start))?.[1];
}
