/** What a start warns about: it works, but not under load, or not in secret. */

import type { Log } from '../log.ts';
import type { ServeOptions } from './serve-options.ts';

/** For the log, the database and what listens. */
const OTHER_FILES = 64;
const LOOPBACK = /^(?:127\.|::1$|localhost$)/;

/** The part of Node's report on a process that is read; Windows has no such limits. */
type Report = { readonly userLimits?: { readonly open_files: { readonly soft: unknown } } };

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
