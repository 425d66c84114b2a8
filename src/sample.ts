/** Believable sample pets, always the same. */

import { PET_STATUSES, type Pet } from './pet.ts';

/** By category. */
const NAMES: readonly (readonly string[])[] = [
  'Rex Bella Max Luna Charlie Daisy Rocky Zoë Bruno Senta Buddy Lassie'.split(' '),
  'Whiskers Mia Simba Minka Oscar Cleo Felix Misty Tiger Nala Žofka 小白'.split(' '),
  'Tweety Kiwi Coco Rio Polly Sunny Pepito Sky'.split(' '),
  'Bubbles Nemo Goldie Finn Dory Coral'.split(' '),
  'Spike Rango Iggy Sheldon Speedy'.split(' '),
];

const STATUSES = ['available', ...PET_STATUSES, undefined] as const;

/** Pets with ids from 1, made as they are consumed. */
export async function* generatePets(count: number): AsyncGenerator<Pet> {
  const random = createRandom(1);
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  for (let id = 1; id <= count; id += 1) {
    const names = pick(NAMES);
    const categoryId = BigInt(NAMES.indexOf(names) + 1);
    const status = pick(STATUSES);
    yield { id: BigInt(id), name: pick(names), categoryId, ...(status && { status }) };
  }
}

/** As Math.random, but its numbers depend only on the seed (the generator mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
