/** `serve --seed`: sample pets for a store of staging that never had a pet. */

import { generatePets } from '../sample.ts';
import type { Store } from '../store.ts';

/** Adds sample pets, unless the store is in use. Resolves to what the start says about it. */
export async function seed({ pets }: Store, count: number): Promise<string> {
  const isSeeded = await pets.seed(generatePets({ count, seed: 1 }));
  return isSeeded
    ? `${count} sample pets are added`
    : 'no sample pets are added: the store has pets, or had some';
}
