/** A running service: its address, and what its start says. */

import manifest from '../../package.json' with { type: 'json' };
import { describeAddress, isMemoryAddress } from '../storage/address.ts';
import type { Store } from '../store.ts';
import { spellKeysCreate } from './remedies.ts';
import type { ServeOptions } from './serve-options.ts';

/** A service that listens, in this process or in workers. */
export interface Service {
  readonly port: number;
  /** Resolves when the requests at work are answered and the workers have ended. */
  stop(): Promise<void>;
  /** Resolves to the metrics of all its processes; absent without an admin port. */
  readonly readMetrics?: (() => Promise<string>) | undefined;
}

/** Node listens on every address of both families, or of IPv4 if IPv6 is off, when it is given no host. */
export const toListenHost = (host: string) => (host === '*' ? '' : host);

/** An IPv6 address is in brackets. */
function toUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** A URL to call: no client can call the host that stands for all addresses. */
function toReachableUrl(host: string, port: number): string {
  return toUrl(/^(\*|0\.0\.0\.0|::)$/.test(host) ? '127.0.0.1' : host, port);
}

/** What a start says: a line, and then facts of the service by their names. */
export function describeService(
  options: ServeOptions,
  { foundSchema }: Store,
  { port }: Service,
  admin: Service | undefined,
): readonly [line: string, facts: Readonly<Record<string, string>>] {
  const { host, adminHost, environment, database } = options;
  const url = toReachableUrl(host, port);
  const hasMoreKeys = environment === 'staging' && !isMemoryAddress(database);
  return [
    `petstore ${manifest.version} listens on ${toUrl(host, port)}`,
    {
      api: `${url}/v1`,
      console: `${url}/console`,
      docs: `${url}/docs`,
      store: `${describeAddress(database)}${foundSchema === 0 ? ', new' : ''}`,
      environment,
      ...(admin && { metrics: `${toUrl(adminHost, admin.port)}/metrics` }),
      ...(hasMoreKeys && { keys: spellKeysCreate(options) }),
    },
  ];
}

/** The key of the first start, and its two first uses. Nothing of it may come into the log. */
export function describeFirstKey(key: string, { host }: ServeOptions, { port }: Service): string {
  const url = toReachableUrl(host, port);
  return `
The first key, which is shown only now:
  ${key}
List the pets with it:
  curl -H 'Authorization: Bearer ${key}' ${url}/v1/pets
Open the console with it:
  ${url}/console#key=${key}
`;
}
