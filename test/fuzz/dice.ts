/** Random choices that are the same for the same seed, and cheap. */

import { createRandom } from '../support/random.ts';

export type Dice = ReturnType<typeof createDice>;

export function createDice(seed: number) {
  const random = createRandom(seed);
  /** A whole number from 0 up to, and without, the bound. */
  const below = (bound: number) => Math.floor(random() * bound);
  return {
    below,
    pick: <Value>(values: readonly Value[]) => values[below(values.length)] as Value,
    /** Whether something happens that does so once in that many times. */
    onceIn: (times: number) => below(times) === 0,
  };
}
