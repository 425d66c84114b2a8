/** The address of a store: which database it names, and how it may be shown. */

import { resolve } from 'node:path';
import { badRequest } from '../error.ts';

export const ADDRESS_FORMS = 'sqlite:FILE, sqlite::memory: or postgres://USER:PASSWORD@HOST/NAME';

/** SQLite's name for a database in memory, which ends with its connection. */
export const MEMORY_FILE = ':memory:';
export const MEMORY_ADDRESS = `sqlite:${MEMORY_FILE}`;

/** A well-formed address of PostgreSQL. As in libpq, commas separate several hosts (its documentation, 34.1.1.3). */
const POSTGRES =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<place>(?<hosts>[^@/?#]*)\/?(?<database>[^@/?#]*))(?:\?(?<query>[^@#]*))?$/;
const HOST_AND_PORT = /^(?:\[(?<ip>[\da-f:.]+)\]|(?<name>[^:[\]]*))(?::(?<port>\d*))?$/i;
const UNESCAPED = /\s|%(?![\da-f]{2})/i;
const PORT_MAX = 65_535;
const MALFORMED = `the database must be postgres://USER:PASSWORD@HOST:PORT/NAME, with a PORT up to ${PORT_MAX}, and % escapes for special characters in USER, PASSWORD and NAME`;

/** The parameters that an address of PostgreSQL may have; the driver would ignore an unknown parameter. */
export const KNOWN_PARAMETERS =
  'application_name host options password pgbouncer port sslcert sslkey sslmode sslrootcert target_session_attrs user';

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  pgbouncer: ['false', 'true'],
  // Libpq's modes, but not `allow`.
  sslmode: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'],
  // A store writes, so there are no modes for a standby.
  target_session_attrs: ['any', 'read-write', 'primary'],
};

/**
 * The database that an address names.
 *
 * @throws PetstoreError `bad_request`; the message repeats no part of an address of PostgreSQL.
 */
export function parseAddress(text: string) {
  const [, kind, rest = ''] = /^(\w+):(.+)/s.exec(text) ?? [];
  if (kind === 'postgres' || kind === 'postgresql') {
    return { kind: 'postgres', url: text, ...parsePostgres(text) } as const;
  }
  if (kind !== 'sqlite') throw badRequest(`the database must be ${ADDRESS_FORMS}`);
  if (rest.startsWith('//')) {
    // Some programs read it as a relative path, others as an absolute path.
    const path = rest.replace(/^\/+/, '');
    throw badRequest(`${text} may mean two files: write sqlite:${path} or sqlite:/${path}`);
  }
  return { kind, file: rest } as const;
}

/** @throws PetstoreError as parseAddress does. */
export function parsePostgres(url: string) {
  const parts = POSTGRES.exec(url)?.groups;
  if (parts === undefined || UNESCAPED.test(url)) throw badRequest(MALFORMED);
  const { host, port, ...others } = parseQuery(parts.query);
  return {
    place: parts.place ?? '',
    hosts: `${parts.hosts}`.split(',').map((text) => parseHost(text, host, port)),
    parameters: {
      ...{ user: decode(parts.user), password: decode(parts.password) },
      ...{ database: decode(parts.database), ...others },
    } as Readonly<Record<string, string>>,
  };
}

function parseQuery(text: string | undefined): Record<string, string> {
  const query = [...new URLSearchParams(text)];
  const values = Object.fromEntries(query);
  const known = KNOWN_PARAMETERS.split(' ');
  if (values.channel_binding !== undefined) {
    throw badRequest('channel_binding is not supported: leave it out, and use sslmode=verify-full');
  }
  if (Object.keys(values).length < query.length || !query.every(([name]) => known.includes(name))) {
    // The name is not repeated: it may be a part of a password.
    const what = 'the database has an unknown parameter, or a parameter twice';
    throw badRequest(`${what}: it may have ${known.join(', ')}`);
  }
  for (const [name, value] of query) {
    const choices = CHOICES[name] ?? [value];
    if (!choices.includes(value)) throw badRequest(`${name} must be one of ${choices.join(', ')}`);
  }
  if (values.sslmode === 'verify-ca' && values.sslrootcert === undefined) {
    throw badRequest('sslmode=verify-ca needs an sslrootcert');
  }
  return values;
}

/** @param host in place of the host in the text, as is `port`. */
function parseHost(text: string, host?: string, port?: string) {
  const found = HOST_AND_PORT.exec(text)?.groups;
  const digits = port || found?.port || '5432';
  const isPort = /^\d+$/.test(digits) && Number(digits) >= 1 && Number(digits) <= PORT_MAX;
  if (found === undefined || !isPort) throw badRequest(MALFORMED);
  return { host: host || (found.ip ?? decode(found.name)), port: Number(digits) };
}

function decode(text = ''): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badRequest(MALFORMED);
  }
}

/**
 * The address as it may be shown: with the absolute path of a file, or without user, password and options.
 *
 * @throws PetstoreError as parseAddress does.
 */
export function describeAddress(text: string): string {
  const address = parseAddress(text);
  if (address.kind === 'postgres') return `${text.slice(0, text.indexOf(':'))}://${address.place}`;
  return address.file === MEMORY_FILE ? text : `sqlite:${resolve(address.file)}`;
}
