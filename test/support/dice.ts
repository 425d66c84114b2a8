/** Random choices that are the same for the same seed, and cheap. */

export type Dice = ReturnType<typeof createDice>;

export function createDice(seed: number) {
  let state = seed;
  /** A whole number from 0 up to, and without, the bound (the generator mulberry32). */
  const below = (bound: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
  return {
    below,
    pick: <Value>(values: readonly Value[]) => values[below(values.length)] as Value,
    /** Whether something happens that does so once in that many times. */
    onceIn: (times: number) => below(times) === 0,
  };
}
