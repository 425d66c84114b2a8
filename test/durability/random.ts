/** The seed of a run with random numbers. */

import { randomInt } from 'node:crypto';
import type { createRandom } from '../../src/sample.ts';

/** Printed, so that a run can be repeated; the timing of the machine is not repeated. */
export const SEED = Number(process.env.TEST_CRASH_SEED ?? randomInt(2 ** 31));

export type Random = ReturnType<typeof createRandom>;
