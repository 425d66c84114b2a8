/** A running service: its address, and what the person who started it is told: facts, commands as they are typed, causes. */

import manifest from '../../package.json' with { type: 'json' };
import { unavailable } from '../error.ts';
import type { Log } from '../log.ts';
import { describeAddress, MEMORY_ADDRESS, parseAddress } from '../storage/address.ts';
import type { Store } from '../store.ts';
import { SERVE_OPTIONS, type ServeOptions } from './serve-options.ts';

/** For the log, the database and what listens. */
const OTHER_FILES = 64;
const LOOPBACK = /^(?:127\.|::1$|localhost$)/;

export interface Service {
  readonly port: number;
  /** Resolves when the requests at work are answered and the workers have ended. */
  stop(): Promise<void>;
  /** Resolves to the metrics of all its processes; absent without an admin port. */
  readonly readMetrics?: (() => Promise<string>) | undefined;
}

/** Node listens on every address of both families, or of IPv4 if IPv6 is off, when it is given no host. */
export const toListenHost = (host: string) => (host === '*' ? '' : host);

function toUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** A URL to call: no client can call the host that stands for all addresses. */
function toReachableUrl(host: string, port: number): string {
  return toUrl(/^(\*|0\.0\.0\.0|::)$/.test(host) ? '127.0.0.1' : host, port);
}

export function describeService(
  options: ServeOptions,
  { foundLayout }: Store,
  { port }: Service,
  admin: Service | undefined,
): readonly [line: string, facts: Readonly<Record<string, string>>] {
  const { host, adminHost, environment, database } = options;
  const url = toReachableUrl(host, port);
  const hasMoreKeys = environment === 'staging' && database !== MEMORY_ADDRESS;
  return [
    `petstore ${manifest.version} listens on ${toUrl(host, port)}`,
    {
      api: `${url}/v1`,
      console: `${url}/console`,
      docs: `${url}/docs`,
      store: `${describeAddress(database)}${foundLayout === 0 ? ', new' : ''}`,
      environment,
      ...(admin && { metrics: `${toReachableUrl(adminHost, admin.port)}/metrics` }),
      ...(hasMoreKeys && { keys: spellKeysCreate(options) }),
    },
  ];
}

/** The key of the first start, and its two first uses if the service listens. Nothing of it may come into the log. */
export function describeFirstKey(
  key: string,
  { host }: ServeOptions,
  service: Service | undefined,
): string {
  const shown = `\nThe first key, which is shown only now:\n  ${key}\n`;
  if (service === undefined) return shown;
  const url = toReachableUrl(host, service.port);
  return `${shown}\
List the pets with it:
  curl -H 'Authorization: Bearer ${key}' ${url}/v1/pets
Open the console with it:
  ${url}/console#key=${key}
`;
}

/** Where a listener listens, and the beginning of the names of its options. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly options: '' | 'admin-';
}

/** In a checkout npm runs the program: there the command `petstore` is not installed. */
const isCheckout = () => process.argv[1]?.endsWith('.ts') === true;

type KeyPlace = Pick<ServeOptions, 'environment' | 'database'>;

/** With its environment: a first key of the wrong one would decide the environment of the store. */
export function spellKeysCreate({ environment, database }: KeyPlace): string {
  const program = isCheckout() ? 'npm run -s petstore --' : 'petstore';
  const command = `${program} keys create --name NAME --environment ${environment}`;
  if (database === SERVE_OPTIONS.database.default) return command;
  // An address of PostgreSQL may hold a password.
  if (parseAddress(database).kind !== 'sqlite') return `PETSTORE_DATABASE=ADDRESS ${command}`;
  return `${command} --database '${describeAddress(database).replaceAll("'", "'\\''")}'`;
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
  return unavailable(message, { cause: error });
}

/** Warns of what works, but not under load, or not in secret. */
export function warnAtStart(options: ServeOptions, { warn }: Log): void {
  const { host, trustProxy, maxConnections: most, databaseConnections } = options;
  const needed = most + databaseConnections + OTHER_FILES;
  // With the network in it, a report waits until DNS tells a name for each socket: seconds if DNS is silent.
  const report = Object.assign(process.report, { excludeNetwork: true }).getReport();
  // Windows has no such limits.
  const files = Number(Object(report).userLimits?.open_files.soft);
  if (files < needed) {
    const remedy = 'raise the hard limit (ulimit -Hn, LimitNOFILE)';
    warn(`only ${files} files may be open: --max-connections ${most} needs ${needed}: ${remedy}`);
  }
  if (trustProxy === undefined && !LOOPBACK.test(host)) {
    const remedy = 'put a proxy with TLS in front, and name it in --trust-proxy';
    warn(`--host ${host}: keys travel in the clear on the network: ${remedy}`);
  }
}
