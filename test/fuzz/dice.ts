/** Random choices that are the same for the same seed, and cheap. */

import { createRandom } from '../../src/sample.ts';

export interface Dice {
  /** A whole number from 0 up to, and without, the bound. */
  below(bound: number): number;
  pick<Value>(values: readonly Value[]): Value;
  /** Whether something happens that does so once in that many times. */
  onceIn(times: number): boolean;
}

export function createDice(seed: number): Dice {
  const random = createRandom(seed);
  const below = (bound: number) => Math.floor(random() * bound);
  return {
    below,
    pick: (values) => values[below(values.length)] as never,
    onceIn: (times) => below(times) === 0,
  };
}
