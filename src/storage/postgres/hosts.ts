/** The hosts in an address of PostgreSQL, and the current one of them. */

import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { PetstoreError } from '../../error.ts';
import { POSTGRES } from '../address.ts';
import { explain } from './errors.ts';

/** What must be escaped and is not: with it in the address, the driver would escape the `%` of every escape again. */
const UNESCAPED = /\s|%(?![\da-f]{2})/i;

const PORT_MAX = 65_535;

/** What libpq's parameters may be here, the default first. A store writes, so there are no standby modes. */
const CHOICES = {
  sslmode: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'],
  target_session_attrs: ['any', 'read-write', 'primary'],
  pgbouncer: ['false', 'true'],
} as const;

export interface Hosts {
  /** How to connect to each host; the current host is the first one. */
  readonly configs: ClientConfig[];
  /** Whether they are of a pooler that may give each transaction another session. */
  readonly isPooled: boolean;
  /** Whether a host that takes no writes is skipped. */
  readonly mustWrite: boolean;
}

/**
 * The hosts of an address.
 *
 * @throws PetstoreError `bad_request` when it cannot be parsed; the message never repeats it.
 */
export function parseHosts(address: string): Hosts {
  const parts = POSTGRES.exec(address)?.groups;
  if (parts === undefined || UNESCAPED.test(address)) throw malformed();
  const { login = '', hosts = '', database = '', query = '' } = parts;
  const options = new URLSearchParams(query);
  if (choose(options, 'sslmode') === 'verify-ca' && !options.has('sslrootcert')) {
    throw new PetstoreError('bad_request', 'sslmode=verify-ca needs an sslrootcert');
  }
  return {
    isPooled: choose(options, 'pgbouncer') === 'true',
    mustWrite: choose(options, 'target_session_attrs') !== 'any',
    configs: hosts
      .split(',')
      .map((host) => toConfig(`postgres://${login}${host}/${query}`, database)),
  };
}

/**
 * Connects to the current host, and after a failure to each of the others.
 *
 * @param msMax after this time no other host is tried: the next call begins with it.
 * @throws PetstoreError `unavailable` with what the last one answered.
 */
export async function tryHosts<T>(
  { configs, isPooled }: Hosts,
  connect: () => Promise<T>,
  msMax = Infinity,
): Promise<T> {
  const deadline = performance.now() + msMax;
  for (let tries = 1; ; tries += 1) {
    const [host] = configs;
    try {
      return await connect();
    } catch (error) {
      // Several calls may fail at once; the first one moves on.
      if (host === configs[0]) configs.push(...configs.splice(0, 1));
      // PgBouncer refuses the startup parameters that are not sent with pgbouncer=true.
      const hint = isPooled ? '' : ': the address may need pgbouncer=true';
      const isLast = tries >= configs.length || performance.now() > deadline;
      if (isLast) throw explain(error, hint);
    }
  }
}

function choose(options: URLSearchParams, name: keyof typeof CHOICES): string {
  const choices: readonly string[] = CHOICES[name];
  const [otherwise = ''] = choices;
  const value = options.get(name) ?? otherwise;
  if (choices.includes(value)) return value;
  throw new PetstoreError('bad_request', `${name} must be one of ${choices.join(', ')}`);
}

function toConfig(address: string, database: string): ClientConfig {
  try {
    // Without this option the driver gives `sslmode` other meanings than libpq.
    const config = toClientConfig(parse(address, { useLibpqCompat: true }));
    // The driver leaves the escapes of `/`, `?` and `#` as they are.
    if (database !== '') config.database = decodeURIComponent(database);
    const { port = PORT_MAX } = config;
    // The driver would neither connect to such a port nor fail.
    if (port < 1 || port > PORT_MAX) throw new RangeError('no such port');
    return config;
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause)) throw malformed(cause);
    throw new PetstoreError(
      'bad_request',
      'the database needs its sslcert, sslkey and sslrootcert to be files that can be read',
      { cause },
    );
  }
}

function malformed(cause?: unknown): PetstoreError {
  return new PetstoreError(
    'bad_request',
    'the database must be postgres://USER:PASSWORD@HOST:PORT/NAME, with % escapes for what is special in USER, PASSWORD and NAME',
    { cause },
  );
}
