/** The address of a store: which database it names, and how it may be shown. */

import { resolve } from 'node:path';
import { PetstoreError } from '../error.ts';

/** The forms of an address, in the words of messages and help. */
export const ADDRESS_FORMS = 'sqlite:FILE, sqlite::memory: or postgres://USER:PASSWORD@HOST/NAME';

/** SQLite's name for a database in memory, which ends with its connection. */
export const MEMORY_FILE = ':memory:';

/** A well-formed address of PostgreSQL. As in libpq, commas separate several hosts (its documentation, 34.1.1.3). */
export const POSTGRES =
  /^postgres(?:ql)?:\/\/(?<login>[^@/?#]*@)?(?<place>(?<hosts>[^@/?#]*)\/?(?<database>[^@/?#]*))(?<query>\?[^@#]*)?$/;

/** The parameters that an address of PostgreSQL may have; the driver would ignore an unknown parameter. */
const PARAMETERS = [
  'application_name',
  'host',
  'options',
  'password',
  'pgbouncer',
  'port',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslrootcert',
  'target_session_attrs',
  'user',
];

type Address =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string };

/**
 * The database that an address names. In an address of PostgreSQL it checks only the names of parameters.
 *
 * @throws PetstoreError `bad_request`; the message does not repeat the address.
 */
export function parseAddress(text: string): Address {
  const [, kind, rest = ''] = /^(\w+):(.+)/s.exec(text) ?? [];
  if (kind === 'sqlite') return { kind, file: rest };
  if (kind !== 'postgres' && kind !== 'postgresql') {
    throw new PetstoreError('bad_request', `the database must be ${ADDRESS_FORMS}`);
  }
  checkParameters(text);
  return { kind: 'postgres', url: text };
}

function checkParameters(url: string): void {
  const names = [...new URLSearchParams(POSTGRES.exec(url)?.groups?.query).keys()];
  const isRepeated = new Set(names).size < names.length;
  if (!isRepeated && names.every((name) => PARAMETERS.includes(name))) return;
  // The name is not repeated: it may be a part of a password.
  throw new PetstoreError(
    'bad_request',
    `the database has an unknown parameter, or a parameter twice: it may have ${PARAMETERS.join(', ')}`,
  );
}

export function isMemoryAddress(text: string): boolean {
  return text === `sqlite:${MEMORY_FILE}`;
}

/**
 * The address as it may be shown: with the absolute path of a file, or without user, password and options.
 * Of a malformed address of PostgreSQL only the kind is shown: a password may stand anywhere in it.
 *
 * @throws PetstoreError as parseAddress does.
 */
export function describeAddress(text: string): string {
  const address = parseAddress(text);
  if (address.kind === 'sqlite') {
    return address.file === MEMORY_FILE ? text : `sqlite:${resolve(address.file)}`;
  }
  return `${text.slice(0, text.indexOf(':'))}://${POSTGRES.exec(text)?.groups?.place ?? ''}`;
}
