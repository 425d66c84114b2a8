/** The limits of a running service: its log, its metrics and its stop. */

import { limit, MIB } from '../limit.ts';

export const SERVICE_LIMITS = {
  LOG_UNITS_MAX: limit(
    8 * MIB,
    'log lines that wait to be written',
    'lines are dropped; a line counts them',
    'petstore_log_dropped_lines_total',
  ),
  LABELS_MAX: limit(500, 'keys, routes and reasons in metrics, each', 'counted as `others`'),
  DRAIN_MS_MAX: limit(10_000, 'the time to stop', 'connections are closed'),
  // More than DRAIN_MS_MAX: a worker then closes its store and its log.
  WORKER_STOP_MS_MAX: limit(13_000, 'the time of a worker to stop', 'it is killed'),
};
