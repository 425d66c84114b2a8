/** A running service: its address, and what its start says. */

import manifest from '../../package.json' with { type: 'json' };
import { describeAddress } from '../storage/address.ts';
import type { Store } from '../store.ts';
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

/** A URL to call: no client can call the host that stands for all addresses. */
export function toReachableUrl(host: string, port: number): string {
  const reachable = /^(\*|0\.0\.0\.0|::)$/.test(host) ? '127.0.0.1' : host;
  return `http://${toAuthority(reachable, port)}`;
}

/** The host and the port as in a URL: an IPv6 address is in brackets. */
export function toAuthority(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

export function describeService(
  { host, environment, database }: ServeOptions,
  { foundSchema }: Store,
  { port }: Service,
): string {
  const where = `petstore ${manifest.version} listens on http://${toAuthority(host, port)}`;
  const what = `${environment}, ${foundSchema === 0 ? 'new store' : 'store'} ${describeAddress(database)}`;
  const page = `${toReachableUrl(host, port)}/console`;
  return `${where} (${what}), console at ${page}, documentation at /docs`;
}
