/** The hosts in an address of PostgreSQL, and the options that all share. */

import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { PetstoreError } from '../../error.ts';
import { POSTGRES } from '../address.ts';
import { explain } from './errors.ts';

/** If an address has such a character, the driver would escape the `%` of every escape again. */
const UNESCAPED = /\s|%(?![\da-f]{2})/i;

const PORT_MAX = 65_535;

/** Libpq's modes, but not `allow`; the default first. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

export interface Hosts {
  /** How to connect to each host; the first host is the current host. */
  readonly configs: ClientConfig[];
  /** Whether the hosts are poolers that may give each transaction another session. */
  readonly isPooled: boolean;
  /** Whether a host that takes no writes is skipped. */
  readonly mustWrite: boolean;
}

/** @throws PetstoreError `bad_request` when it cannot be parsed; the message never repeats the address. */
export function parseHosts(address: string): Hosts {
  const parts = POSTGRES.exec(address)?.groups;
  if (parts === undefined || UNESCAPED.test(address)) throw malformed();
  const { login = '', hosts = '', database = '', query = '' } = parts;
  const options = new URLSearchParams(query);
  if (choose(options, 'sslmode', SSL_MODES) === 'verify-ca' && !options.has('sslrootcert')) {
    throw new PetstoreError('bad_request', 'sslmode=verify-ca needs an sslrootcert');
  }
  return {
    isPooled: choose(options, 'pgbouncer', ['false', 'true']) === 'true',
    // A store writes, so there are no modes for a standby.
    mustWrite: choose(options, 'target_session_attrs', ['any', 'read-write', 'primary']) !== 'any',
    configs: hosts
      .split(',')
      .map((host) => toConfig(`postgres://${login}${host}/${query}`, database)),
  };
}

/**
 * Connects to the current host, and after a failure to each other host.
 *
 * @param msMax after this time no other host is tried; the next call begins with the next host.
 * @throws PetstoreError `unavailable` with the error of the last host.
 */
export async function tryHosts<T>(
  { configs }: Hosts,
  connect: () => Promise<T>,
  msMax = Infinity,
): Promise<T> {
  const deadline = performance.now() + msMax;
  for (let tries = 1; ; tries += 1) {
    const [host] = configs;
    try {
      return await connect();
    } catch (error) {
      // Several calls may fail at once; the first call moves on to the next host.
      if (host === configs[0]) configs.push(...configs.splice(0, 1));
      if (tries < configs.length && performance.now() <= deadline) continue;
      throw explain(error);
    }
  }
}

/** @param choices the default first. */
function choose(options: URLSearchParams, name: string, choices: readonly string[]) {
  const value = options.get(name) ?? choices[0];
  if (value !== undefined && choices.includes(value)) return value;
  throw new PetstoreError('bad_request', `${name} must be one of ${choices.join(', ')}`);
}

function toConfig(address: string, database: string): ClientConfig {
  try {
    // Without this option, `sslmode` has other meanings than in libpq.
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
      'sslcert, sslkey and sslrootcert must be files that can be read',
      { cause },
    );
  }
}

function malformed(cause?: unknown): PetstoreError {
  return new PetstoreError(
    'bad_request',
    'the database must be postgres://USER:PASSWORD@HOST:PORT/NAME, with % escapes for special characters in USER, PASSWORD and NAME',
    { cause },
  );
}
