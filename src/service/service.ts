/** What a service is once it runs, and its address. */

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

/** As {@link toUrl}, for a link: a browser cannot open the host that stands for all addresses. */
export function toReachableUrl(host: string, port: number): string {
  return toUrl(/^(0\.0\.0\.0|::)$/.test(host) ? '127.0.0.1' : host, port);
}

/** A host as it stands in a URL: an IPv6 address in brackets. */
export function toUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
