/** The connections that the limit of open files leaves room for. */

import cluster from 'node:cluster';
import type { Log } from '../log.ts';
import type { ServeOptions } from './serve-options.ts';

/** For the other files that a process opens: 30 to 40, without the connections to PostgreSQL. */
const OTHER_FILES = 64;

/** `maxConnections`, or fewer if the operating system allows fewer open files; the log then says so. */
export function limitConnections(
  { maxConnections, databaseConnections }: ServeOptions,
  log: Log,
): number {
  // Otherwise the report looks up the names of all network addresses.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files: { readonly soft: number | 'unlimited' } };
  };
  // NaN if there is no limit.
  const openFiles = Number(userLimits?.open_files.soft);
  const room = Math.max(1, openFiles - OTHER_FILES - databaseConnections);
  if (Number.isNaN(room) || room >= maxConnections) return maxConnections;
  // The primary has logged it for all workers.
  if (cluster.isWorker) return room;
  log.warn(
    { openFiles, maxConnections },
    `the limit of open files leaves only ${room} connections: raise it (ulimit -n, LimitNOFILE), or choose a smaller --max-connections`,
  );
  return room;
}
