/** What a service is started with, what it is once it runs, and its address. */

import type { Environment } from '../api-key.ts';
import type { LogLevel } from '../log.ts';

/** The options of `petstore serve`, by the names that they have on the command line. */
export interface ServeOptions {
  /** The address of the store. */
  readonly database: string;
  readonly databaseConnections: number;
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  /** Without it there is no admin listener, and nothing is counted. */
  readonly adminPort?: number;
  readonly workers: number;
  /** The most open connections of each process. */
  readonly maxConnections: number;
  readonly environment: Environment;
  readonly baseUrl?: string;
  readonly logLevel: LogLevel;
  readonly corsOrigin: readonly string[];
  /** The addresses and networks of the proxies whose X-Forwarded-For is believed. */
  readonly trustProxy: readonly string[];
  readonly retireGetPet: boolean;
  /** The requests of each key in a second, and at once, that each process accepts. */
  readonly rateLimit?: number;
  readonly rateLimitBurst?: number;
}

/** A service that listens, in this process or in workers. */
export interface Service {
  readonly port: number;
  /** Resolves when the requests in flight are answered and the last process has ended. */
  stop(): Promise<void>;
  /** The metrics of all its processes; absent without an admin port. */
  readonly readMetrics?: (() => Promise<string>) | undefined;
}

export function toUrl(host: string, port: number): string {
  return `http://${toUrlHost(host)}:${port}`;
}

/** A host as it stands in a URL: an IPv6 address in brackets. */
export function toUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
