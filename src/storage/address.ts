/** The address of a store: which database it names, and how it may be shown. */

import { resolve } from 'node:path';
import { PetstoreError } from '../error.ts';

/** The forms of an address, in the words of messages and help. */
export const ADDRESS_FORMS = 'sqlite:FILE, sqlite::memory: or postgres://USER:PASSWORD@HOST/NAME';

/** SQLite's name for a database in memory, which ends with its connection. */
export const MEMORY_FILE = ':memory:';

/** A well-formed address of PostgreSQL, with its hosts and its database as the group. */
const POSTGRES = /^\w+:\/\/(?:[^@/?#]*@)?([^@?#]*)(?:\?[^@#]*)?$/;

export type Address =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string };

/**
 * The database that an address names. What follows `postgres:` is checked where it is opened.
 *
 * @throws PetstoreError `bad_request` for any other kind; the message does not repeat the address.
 */
export function parseAddress(text: string): Address {
  const address = findAddress(text);
  if (address === undefined) {
    throw new PetstoreError('bad_request', `the database must be ${ADDRESS_FORMS}`);
  }
  return address;
}

/** Whether the address is of a database in memory. */
export function isMemoryAddress(text: string): boolean {
  const address = findAddress(text);
  return address?.kind === 'sqlite' && address.file === MEMORY_FILE;
}

/**
 * The address with the absolute path of a file, or without user, password and options; of one that is
 * malformed only the kind, of an unknown kind nothing, since a password may stand anywhere in those.
 */
export function describeAddress(text: string): string {
  const address = findAddress(text);
  if (address === undefined) return '';
  if (address.kind === 'sqlite') {
    return address.file === MEMORY_FILE ? text : `sqlite:${resolve(address.file)}`;
  }
  const [, hosts] = POSTGRES.exec(text) ?? [];
  return `${text.slice(0, text.indexOf(':'))}://${hosts ?? ''}`;
}

function findAddress(text: string): Address | undefined {
  const [, kind, rest = ''] = /^(\w+):(.+)/s.exec(text) ?? [];
  if (kind === 'sqlite') return { kind, file: rest };
  return kind === 'postgres' || kind === 'postgresql' ? { kind: 'postgres', url: text } : undefined;
}
