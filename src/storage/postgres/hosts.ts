/** The hosts in an address of PostgreSQL, and the options that all share. */

import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import pg, { type ClientConfig } from 'pg';
import { badRequest, unavailable } from '../../error.ts';
import { parsePostgres } from '../address.ts';
import { explain, NAME_NOT_RESOLVED, NO_TLS, toCode } from './errors.ts';

type Parameters = ReturnType<typeof parsePostgres>['parameters'];

const LOOKUP_SHARE = 0.8;

export type Hosts = ReturnType<typeof parseHosts>;

export function parseHosts(address: string, onlyReads = false) {
  const { hosts, parameters } = parsePostgres(address);
  const { sslmode = 'prefer', pgbouncer, target_session_attrs, ...others } = parameters;
  const ssl = toTls(sslmode, parameters);
  return {
    /** How to connect to each host; the first host is the current host. */
    configs: hosts.map((host): ClientConfig => ({ ...others, ...host, ssl })),
    /** How to use TLS with a server that offers it. */
    preferredTls: sslmode === 'prefer' ? ssl : undefined,
    /** Whether the hosts are poolers that may give each transaction another session. */
    isPooled: pgbouncer === 'true',
    /** Whether a server that takes no writes is refused: of several hosts, a standby may be a primary of old. */
    mustWrite: !onlyReads || hosts.length > 1 || (target_session_attrs ?? 'any') !== 'any',
  };
}

/** @throws PetstoreError `bad_request` when neither the address nor the environment, as in containers, names a user. */
export function checkUser({ configs: [host] }: Hosts): void {
  if (host?.user || pg.defaults.user) return;
  const message = 'the address of the database names no user';
  throw badRequest(`${message}: write postgres://USER:PASSWORD@HOST/NAME`);
}

/** As libpq: only `verify-full` compares the name of the host, and `require` trusts any server unless it has a CA. */
function toTls(mode: string, { sslcert, sslkey, sslrootcert }: Parameters): ClientConfig['ssl'] {
  if (mode === 'disable') return false;
  const read = (file?: string) => file && readFileSync(file, 'utf8');
  try {
    const files = { cert: read(sslcert), key: read(sslkey), ca: read(sslrootcert) };
    // A connection would tell of a wrong file as if the server were away.
    createSecureContext(files);
    return {
      ...files,
      rejectUnauthorized:
        /^verify-/.test(mode) || (mode === 'require' && sslrootcert !== undefined),
      ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    };
  } catch (cause) {
    const message = 'sslcert, sslkey and sslrootcert must be PEM files that can be read';
    const pair = 'sslkey must belong to sslcert, without a passphrase';
    // The files may come back, or be replaced.
    throw unavailable(`${message}; ${pair}`, { cause });
  }
}

/**
 * Connects to the current host, and after a failure to each other host. After `msMax` milliseconds no other host is
 * tried: the next call begins with the next host.
 *
 * @throws PetstoreError `unavailable` with the error of the last host.
 */
export async function tryHosts<T>(
  { configs, preferredTls, isPooled }: Hosts,
  connect: () => Promise<T>,
  msMax = Infinity,
): Promise<T> {
  const deadline = performance.now() + msMax;
  for (let tries = 1; ; ) {
    const [host] = configs;
    try {
      return await connect();
    } catch (error) {
      if (host !== undefined && preferredTls !== undefined) {
        const lacksTls = toCode(error) === NO_TLS;
        // After any other failure the server may have got TLS, and require it.
        host.ssl = lacksTls ? false : preferredTls;
        if (lacksTls) continue;
      }
      // Several calls may fail at once; the first call moves on to the next host.
      if (host === configs[0]) configs.push(...configs.splice(0, 1));
      if (tries >= configs.length || performance.now() > deadline) throw explain(error, isPooled);
      tries += 1;
    }
  }
}

/** A socket that leaves a part of the time to connect for the host: so the error names DNS if DNS is silent. */
export function createSocket(connectMs = 5_000): Socket {
  const socket = new Socket();
  const error = Object.assign(new Error('DNS does not answer'), { code: NAME_NOT_RESOLVED });
  const timer = setTimeout(() => socket.destroy(error), connectMs * LOOKUP_SHARE);
  const stop = () => clearTimeout(timer);
  // An IP address has an attempt, but no lookup.
  return socket.once('connectionAttempt', stop).once('close', stop);
}
