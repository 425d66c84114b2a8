/** Pets, keys and requests of the store's contract. */

import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import type { NewApiKey } from '../../../src/api-key.ts';
import { NEW_PET_FIELDS, type NewPet, type Pet } from '../../../src/pet.ts';
import type { PetQuery } from '../../../src/pet-query.ts';
import { FILTERS } from '../../../src/storage/pet-row.ts';
import type { IdempotentRequest, IdRange, PetStore, Store } from '../../../src/store.ts';
import { FIELD_VALUES } from '../../arbitraries.ts';

export const REX: NewPet = { name: 'Rex', categoryId: 1n };

export const REQUEST: IdempotentRequest = { keyId: 7, key: 'order-1' };

export function createNewKey(more: Partial<NewApiKey> = {}): NewApiKey {
  return {
    digest: randomBytes(32),
    name: 'ci',
    environment: 'staging',
    createdAt: 1_790_000_000_000,
    ...more,
  };
}

/** The range of one id. */
export const toRange = (id: number | bigint): IdRange => ({ first: BigInt(id), last: BigInt(id) });

export async function* repeat(count: number, pet: NewPet = REX): AsyncGenerator<NewPet> {
  for (let index = 0; index < count; index += 1) yield { ...pet, name: `${pet.name} ${index}` };
}

/** The pet of an idempotent request, whether this one added it or an earlier one. */
export async function addOnce(
  pets: PetStore,
  newPet: NewPet,
  request: IdempotentRequest,
): Promise<Pet> {
  const { pet } = await pets.addOnce(newPet, request);
  return pet;
}

/** So many pets, and then an error. */
export async function* fail(count: number): AsyncGenerator<NewPet> {
  yield* repeat(count);
  throw new Error('row 7 is wrong');
}

/** All pets of the store. */
export async function listAll({ pets }: Store, query: Partial<PetQuery> = {}) {
  return (await pets.list({ limit: 100_000, ...query })).pets;
}

/** Some values of a field, always the same: all that it can have, or two. */
export function sampleField(name: keyof NewPet): readonly unknown[] {
  const { schema } = NEW_PET_FIELDS.find((field) => field.name === name) ?? {};
  const values: fc.Arbitrary<unknown> = FIELD_VALUES[name];
  return schema?.enum ?? fc.sample(values, { numRuns: 2, seed: 1 });
}

/** Each object that has one value of each member. */
export function combine(members: readonly (readonly [string, readonly unknown[]])[]): object[] {
  return members.reduce<object[]>(
    (objects, [name, values]) =>
      objects.flatMap((object) =>
        values.map((value) => (value === undefined ? object : { ...object, [name]: value })),
      ),
    [{}],
  );
}

/** Each set of filters that a query can have, in their order. */
export function combineFilters(): (typeof FILTERS)[] {
  const sets = FILTERS.reduce<(typeof FILTERS)[]>(
    (all, filter) => all.concat(all.map((set) => set.concat(filter))),
    [[]],
  );
  return sets.filter((set) => set.length > 0);
}
