import type { PetStore } from '../../src/store.ts';

export async function countPets(pets: PetStore): Promise<number> {
  return (await pets.list({ limit: 100_000 })).pets.length;
}
