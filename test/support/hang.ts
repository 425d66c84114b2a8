/** The one limit of time for what must end: only what hangs is longer. */

import { availableParallelism, loadavg } from 'node:os';

const [load = 0] = loadavg();

/** How much longer all takes where each processor has several processes to run. */
export const BUSY = Math.min(5, Math.ceil(Math.max(1, load / availableParallelism())));

/** Less than a whole test may take: so the wait that was in vain fails first, and tells what it waited for. */
export const HANG_MS = 40_000 * BUSY;
