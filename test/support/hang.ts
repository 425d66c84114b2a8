/** The one limit of time for what must end: only what hangs is longer. */

import { availableParallelism, loadavg } from 'node:os';

const [load = 0] = loadavg();

/** Two minutes, or longer where each processor has several processes to run. */
export const HANG_MS = 120_000 * Math.ceil(Math.max(1, load / availableParallelism()));
