/** Random numbers that are the same for the same seed. */

import { randomInt } from 'node:crypto';

/** Printed, so that a run can be repeated; the timing of the machine is not repeated. */
export const SEED = Number(process.env.TEST_CRASH_SEED ?? randomInt(2 ** 31));

/** From 0 up to 1, as Math.random. */
export type Random = () => number;

/** Mulberry32, which is 32 bits of state and good enough to choose moments. */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
