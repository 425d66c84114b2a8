/** The address of a PostgreSQL database with one or several hosts, and the host that is used now; who connects is not known here. */

import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { PetstoreError } from '../../error.ts';

/** As in libpq, several hosts stand with commas between them (PostgreSQL documentation, 34.1.1.3). */
const ADDRESS =
  /^postgres(?:ql)?:\/\/(?<login>[^@/?#]*@)?(?<hosts>[^@/?#]*)\/?(?<database>[^@/?#]*)(?<query>\?[^@#]*)?$/;

/** With these the driver would take the `%` of every escape for itself. */
const UNESCAPED = /\s|%(?![\da-f]{2})/i;

const PORT_MAX = 65_535;

/** What libpq's `sslmode` may be here; without one the connection is not encrypted. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** What libpq's `target_session_attrs` may be here; each store writes, so no standby will do. */
const TARGETS: ReadonlyMap<string, boolean> = new Map([
  ['any', false],
  ['read-write', true],
  ['primary', true],
]);

export interface Hosts {
  readonly count: number;
  /** Whether a server that takes no writes is passed over. */
  readonly mustWrite: boolean;
  /** How to connect to the host that is used now. */
  readonly current: ClientConfig;
  /** Goes on to the next host, unless somebody did already. */
  leave(config: ClientConfig): void;
}

/**
 * The hosts of an address.
 *
 * @throws PetstoreError `bad_request` when it cannot be understood; the words never repeat it.
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
  const configs = hosts
    .split(',')
    .map((host) => toConfig(`postgres://${login}${host}/${query}`, database));
  let at = 0;
  return {
    count: configs.length,
    mustWrite,
    get current() {
      return configs[at] as ClientConfig;
    },
    leave(config) {
      if (config === configs[at]) at = (at + 1) % configs.length;
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
    // The words of `sslmode` mean what they mean to every other client of PostgreSQL.
    const config = toClientConfig(parse(address, { useLibpqCompat: true }));
    // The driver would leave the escapes of `/`, `?` and `#` in it.
    if (database !== '') config.database = decodeURIComponent(database);
    const { port = PORT_MAX } = config;
    // A connection to such a port would never fail.
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
