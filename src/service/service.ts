/** A running service, and its address. */

/** A service that listens, in this process or in workers. */
export interface Service {
  readonly port: number;
  /** Resolves when the requests at work are answered and the workers have ended. */
  stop(): Promise<void>;
  /** Resolves to the metrics of all its processes; absent without an admin port. */
  readonly readMetrics?: (() => Promise<string>) | undefined;
}

export function toUrl(host: string, port: number): string {
  return `http://${toUrlHost(host)}:${port}`;
}

/** A URL to call: no client can call the host that stands for all addresses. */
export function toReachableUrl(host: string, port: number): string {
  return toUrl(/^(0\.0\.0\.0|::)$/.test(host) ? '127.0.0.1' : host, port);
}

/** A host for a URL: an IPv6 address is in brackets. */
export function toUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
