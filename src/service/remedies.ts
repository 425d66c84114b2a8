/** What the person who started the service can do: commands as they are typed, and the causes of a bad start. */

import { PetstoreError } from '../error.ts';
import type { Log } from '../log.ts';
import { describeAddress, parseAddress } from '../storage/address.ts';
import { SERVE_OPTIONS, type ServeOptions } from './serve-options.ts';

/** For the log, the database and what listens. */
const OTHER_FILES = 64;
const LOOPBACK = /^(?:127\.|::1$|localhost$)/;

/** Where a listener listens, and the beginning of the names of its options. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly options: '' | 'admin-';
}

/** The part of Node's report on a process that is read; Windows has no such limits. */
type Report = { readonly userLimits?: { readonly open_files: { readonly soft: unknown } } };

/** In a checkout npm runs the program: there the command `petstore` is not installed. */
const isCheckout = () => process.argv[1]?.endsWith('.ts') === true;

/** The command that makes a key of this store. */
export function spellKeysCreate({ environment, database }: ServeOptions): string {
  const program = isCheckout() ? 'npm run -s petstore --' : 'petstore';
  const which = environment === 'staging' ? '' : ` --environment ${environment}`;
  return `${program} keys create --name NAME${which}${spellDatabase(database)}`;
}

function spellDatabase(database: string): string {
  if (database === SERVE_OPTIONS.database.default) return '';
  // An address of PostgreSQL may hold a password.
  if (parseAddress(database).kind !== 'sqlite') return ', with this PETSTORE_DATABASE';
  return ` --database '${describeAddress(database).replaceAll("'", "'\\''")}'`;
}

/** Why the service cannot listen, in one line, by the code that Node gives the error. Any other error stays as it is. */
export function explainListenError(error: unknown, { host, port, options }: Place): unknown {
  const hint = (name: 'host' | 'port', value: string | number) => {
    const serve = isCheckout() ? 'npm start --' : 'petstore serve';
    const variable = `PETSTORE_${`${options}${name}`.replace('-', '_').toUpperCase()}`;
    return `${serve} --${options}${name} ${value} (or ${variable}=${value})`;
  };
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} is in use: ${hint('port', port < 65_535 ? port + 1 : 0)}`,
    EADDRNOTAVAIL: `this machine does not have the address ${host}: ${hint('host', '127.0.0.1')}`,
    ENOTFOUND: `nobody knows the host ${host}: ${hint('host', '127.0.0.1')}`,
    EACCES: `this user may not listen on port ${port}${port > 1_023 ? '' : ', which is below 1024'}: ${hint('port', 8080)}`,
  };
  const message = messages[String(Object(error).code)];
  if (message === undefined) return error;
  return new PetstoreError('unavailable', message, { cause: error });
}

/** Warns of what works, but not under load, or not in secret. */
export function warnAtStart(options: ServeOptions, { warn }: Log): void {
  const { host, trustProxy, maxConnections: most, databaseConnections } = options;
  const needed = most + databaseConnections + OTHER_FILES;
  const files = Number((process.report.getReport() as Report).userLimits?.open_files.soft);
  if (files < needed) {
    const remedy = 'raise the hard limit (ulimit -Hn, LimitNOFILE)';
    warn(`only ${files} files may be open: --max-connections ${most} needs ${needed}: ${remedy}`);
  }
  if (trustProxy === undefined && !LOOPBACK.test(host)) {
    const remedy = 'put a proxy with TLS in front, and name it in --trust-proxy';
    warn(`--host ${host}: keys travel in the clear on the network: ${remedy}`);
  }
}
