/** The limits of a running service: its log, its metrics, its stop, its connections. */

import cluster from 'node:cluster';
import { limit, MIB, toValues } from '../limit.ts';
import type { Log } from '../log.ts';
import type { ServeOptions } from './serve-options.ts';

export const SERVICE_LIMITS = {
  LOG_UNITS_MAX: limit(
    8 * MIB,
    'log lines that wait to be written',
    'lines are dropped; a line counts them',
    'petstore_log_dropped_lines_total',
  ),
  LABELS_MAX: limit(500, 'keys, routes and reasons in metrics, each', 'counted as `others`'),
  READY_MS_MAX: limit(2_000, 'the check for `petstore_ready`', 'it is 0', 'petstore_ready'),
  // More than READY_MS_MAX: a worker answers after this check.
  WORKER_ANSWER_MS_MAX: limit(
    4_000,
    'the time of a worker to give its metrics',
    'they are left out',
    'petstore_workers_answering',
  ),
  DRAIN_MS_MAX: limit(10_000, 'the time to stop', 'connections are closed'),
  // More than DRAIN_MS_MAX: a worker then closes its store and its log.
  WORKER_STOP_MS_MAX: limit(13_000, 'the time of a worker to stop', 'it is killed'),
};

export const LIMITS = toValues(SERVICE_LIMITS);

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
