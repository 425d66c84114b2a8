/** The errors of PostgreSQL and its driver: which are retried, and what the others say to the operator. */

import pg from 'pg';
import { PetstoreError, unavailable } from '../../error.ts';
import { NUMBERED } from '../tables.ts';

/** SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
export const READ_ONLY = '25006';
export const INSUFFICIENT_PRIVILEGE = '42501';

export const LACKS_INDEX = 'lacks an index: its restore did not end, or somebody dropped it';

const POOLER_REFUSAL = '08P01';
const ID_IN_USE = '23505';

/** The driver gives this error no code, so its text stands in the place of the code. */
export const NO_TLS = 'The server does not support SSL connections';
/** The server gave no answer within `query_timeout`; it has no code either. */
export const SILENT = 'Query read timeout';
/** The server gave no answer to a write in time; it has no code either. */
export const UNCONFIRMED = 'A write was not confirmed';
/** The server sent what the driver cannot read; it has no code either. */
export const NO_MESSAGE = 'Not a message of PostgreSQL';
/** The code of the system when DNS does not answer. */
export const NAME_NOT_RESOLVED = 'EAI_AGAIN';

/** Each reason has the starts of its codes: SQLSTATEs, or codes of the system or TLS. The first match counts. */
type Reasons = readonly (readonly [reason: string, ...starts: string[]])[];

/** What the operator must change. */
export const LASTING: Reasons = [
  ['cannot grow: no id is left', '2200H'],
  ['gives ids that are in use', ID_IN_USE],
  [
    'does not let this user in: the role may not exist or lack LOGIN, or pg_hba.conf has no line for it or asks for TLS (sslmode=require)',
    '28000',
  ],
  ['refuses this user or its password', '28'],
  ['is not there: make it with createdb', '3D000'],
  ['has tables of another program: use a database or a schema of its own', '42P07'],
  // All errors of PgBouncer itself.
  ['is refused by its pooler: see its log', POOLER_REFUSAL],
  // The pooler has no statement of another session.
  ['is behind a pooler: add pgbouncer=true to the address', '26000'],
  ['lacks a table or column that this program needs: restore it from a backup', '42703', '42P01'],
  [LACKS_INDEX, '42P10'],
  ['has no schema that this user may use: see the rights in docs/postgresql.md', '3F000'],
  [
    'does not let this user do what is needed: see the rights in docs/postgresql.md',
    INSUFFICIENT_PRIVILEGE,
  ],
  ['takes no connections: its allow_connections is false, or its drop was interrupted', '55000'],
  ['did not answer in time', '57014'],
  // Without a standby, no transaction here fails so: none is serializable.
  ['is a standby that ended a long read: raise its max_standby_streaming_delay', '40001'],
  ['has too many conflicting changes', '40'],
  ['reports an error of its disk', '58'],
  ['shows a certificate for another host', 'ERR_TLS_CERT_ALTNAME'],
  ['shows a certificate that is not trusted', 'CERT_', 'DEPTH_ZERO', 'SELF_SIGNED', 'UNABLE_TO_'],
  ['does not offer TLS, which sslmode requires', NO_TLS],
  // It has no code either.
  ['asks for a password: add it to the address', 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client'],
];

/** What may pass by itself. */
export const PASSING: Reasons = [
  // A failover may go on.
  [
    'is read-only: the address leads to a standby, or default_transaction_read_only is on',
    READ_ONLY,
  ],
  [
    'does not confirm writes: a synchronous standby does not confirm (see pg_stat_replication), or the server is silent',
    UNCONFIRMED,
  ],
  [
    'sends what is no message of PostgreSQL: see its pooler or proxy',
    NO_MESSAGE,
    'Received unexpected',
  ],
  ['cannot be reached', '08'],
  ['cannot grow: its disk is full', '53100'],
  ['has no room: its connections or memory are used up', '53'],
  ['is locked by another process', '55'],
  ['ended the session, since this program was silent for too long', '25P03', '57P05'],
  ['is stopping or starting', '57'],
  ['cannot be reached: nothing listens there', 'ECONNREFUSED'],
  ['cannot be reached: DNS does not tell the address of its host', NAME_NOT_RESOLVED],
  ['cannot be reached: its host is not known', 'ENOTFOUND'],
];

/** What nothing else explains: a server that hangs sends no code. */
export const UNREACHED = 'cannot be reached or does not answer in time';

/** SQL to paste, also into a session whose path leads to another schema. In single quotes: JSON escapes double quotes. */
export function toPasted(schema: string, statements: readonly string[]): string {
  return [`set search_path = ${pg.escapeLiteral(schema)}`, ...statements].join('; ');
}

/** SQL that moves sequences on to the ids that are in use. It waits for all who take ids; else it could move them back. */
export function toSequenceRemedy(schema: string, tables: readonly string[] = NUMBERED): string {
  const remedies = tables.map((table) => {
    const last = `greatest((select max(id) from ${table}), (select last_value from ${table}_id))`;
    return `select setval('${table}_id', ${last}) from pg_advisory_xact_lock('${table}_id'::regclass::int, -1)`;
  });
  return toPasted(schema, remedies);
}

/** Whether the connection broke, or is of no more use: its server stops, or did not answer. */
export function isBroken(error: unknown): boolean {
  const cause = toCause(error);
  if (!(cause instanceof pg.DatabaseError)) return cause !== undefined;
  return cause.code === undefined || /^(?:08|57P)/.test(cause.code);
}

/** Whether the database may come back by itself. */
export function isAway(error: unknown): error is PetstoreError {
  if (!(error instanceof PetstoreError) || error.cause === undefined) return false;
  return findReason(toCode(error), LASTING) === undefined;
}

/** A PetstoreError, without an address, for an error that the operator can mend; any other error as it is. */
export function explain(error: unknown, isPooled = false): unknown {
  if (error instanceof PetstoreError || error instanceof TypeError) return error;
  const code = toCode(error);
  const reason = findReason(code, LASTING) ?? findReason(code, PASSING);
  if (reason === undefined && error instanceof pg.DatabaseError) return error;
  const message = `the database ${reason ?? UNREACHED}${toHint(error, isPooled)}`;
  return unavailable(message, { cause: error });
}

function toHint(error: unknown, isPooled: boolean): string {
  const code = toCode(error);
  if (code === ID_IN_USE) return `: ${toSequenceRemedy(Object(error).schema ?? 'public')}`;
  // Without it, a pooler gets startup parameters that it refuses.
  return code === POOLER_REFUSAL && !isPooled ? '; the address needs pgbouncer=true' : '';
}

/** The SQLSTATE of an error, also of an explained error. For an error of the driver its code, or else its text. */
export function toCode(error: unknown): string {
  const cause = toCause(error);
  // A server gives each of its errors a code.
  if (cause instanceof pg.DatabaseError) return cause.code ?? NO_MESSAGE;
  return cause instanceof Error ? String('code' in cause ? cause.code : cause.message) : '';
}

function toCause(error: unknown): unknown {
  return error instanceof PetstoreError ? error.cause : error;
}

function findReason(code: string, reasons: Reasons): string | undefined {
  return reasons.find(([, ...starts]) => starts.some((start) => code.startsWith(start)))?.[0];
}
