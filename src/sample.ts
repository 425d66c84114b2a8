/** Believable sample pets, always the same. */

import { PET_STATUSES, type Pet } from './pet.ts';

/** By category. */
const PETS = [
  'Rex Bella Max Luna Charlie Daisy Rocky Zoë Bruno Senta Buddy Lassie',
  'Whiskers Mia Simba Minka Oscar Cleo Felix Misty Tiger Nala Žofka 小白',
  'Tweety Kiwi Coco Rio Polly Sunny Pepito Sky',
  'Bubbles Nemo Goldie Finn Dory Coral',
  'Spike Rango Iggy Sheldon Speedy',
].flatMap((names, index) => {
  const categoryId = BigInt(index + 1);
  return names.split(' ').map((name) => ({ name, categoryId }));
});

/** From a pet to the next. The number of names is a prime, so each name comes once in a round. */
const STEP = 17;

const SAMPLE_STATUSES = ['available', ...PET_STATUSES, undefined] as const;

export async function* generatePets(count: number): AsyncGenerator<Pet> {
  for (let id = 1; id <= count; id += 1) {
    const pet = PETS[(STEP * id) % PETS.length] as (typeof PETS)[number];
    const status = SAMPLE_STATUSES[id % SAMPLE_STATUSES.length];
    yield { id: BigInt(id), ...pet, ...(status && { status }) };
  }
}
