/** The hosts in an address of PostgreSQL, and the current one of them. */

import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { PetstoreError } from '../../error.ts';

/** As in libpq, commas separate several hosts (PostgreSQL documentation, 34.1.1.3). */
const ADDRESS =
  /^postgres(?:ql)?:\/\/(?<login>[^@/?#]*@)?(?<hosts>[^@/?#]*)\/?(?<database>[^@/?#]*)(?<query>\?[^@#]*)?$/;

/** What must be escaped and is not: with it in the address, the driver would escape the `%` of every escape again. */
const UNESCAPED = /\s|%(?![\da-f]{2})/i;

const PORT_MAX = 65_535;

/** What libpq's `sslmode` may be here; without one the connection is not encrypted. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** What libpq's `target_session_attrs` may be here, and whether the host must take writes. A store writes, so the standby modes are not offered. */
const TARGETS: ReadonlyMap<string, boolean> = new Map([
  ['any', false],
  ['read-write', true],
  ['primary', true],
]);

export interface Hosts {
  readonly count: number;
  /** Whether they are of a pooler that may give each transaction another session. */
  readonly isPooled: boolean;
  /** Whether a host that takes no writes is skipped. */
  readonly mustWrite: boolean;
  /** How to connect to the current host. */
  readonly current: ClientConfig;
  /** Makes the next host the current one, if the given one still is. */
  tryNext(config: ClientConfig): void;
}

/**
 * The hosts of an address; the first one is current.
 *
 * @throws PetstoreError `bad_request` when it cannot be parsed; the message never repeats it.
 */
export function parseHosts(address: string): Hosts {
  const parts = ADDRESS.exec(address)?.groups;
  if (parts === undefined || UNESCAPED.test(address)) throw malformed();
  const { login = '', hosts = '', database = '', query = '' } = parts;
  const options = new URLSearchParams(query);
  checkSsl(options);
  const target = options.get('target_session_attrs') ?? 'any';
  const mustWrite = TARGETS.get(target);
  if (mustWrite === undefined) {
    const known = [...TARGETS.keys()].join(', ');
    throw new PetstoreError('bad_request', `target_session_attrs must be one of ${known}`);
  }
  const pgbouncer = options.get('pgbouncer') ?? 'false';
  if (!/^(?:true|false)$/.test(pgbouncer)) {
    throw new PetstoreError('bad_request', 'pgbouncer must be true or false');
  }
  const configs = hosts
    .split(',')
    .map((host) => toConfig(`postgres://${login}${host}/${query}`, database));
  let current = 0;
  return {
    count: configs.length,
    isPooled: pgbouncer === 'true',
    mustWrite,
    get current() {
      return configs[current] as ClientConfig;
    },
    tryNext(config) {
      if (config === configs[current]) current = (current + 1) % configs.length;
    },
  };
}

function checkSsl(options: URLSearchParams): void {
  const mode = options.get('sslmode');
  if (mode !== null && !SSL_MODES.includes(mode)) {
    throw new PetstoreError('bad_request', `sslmode must be one of ${SSL_MODES.join(', ')}`);
  }
  if (mode === 'verify-ca' && !options.has('sslrootcert')) {
    throw new PetstoreError('bad_request', 'sslmode=verify-ca needs an sslrootcert');
  }
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
