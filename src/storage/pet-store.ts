/** Pets in a database: how they are added, idempotent requests included. How they are read is each engine's `petQueries`. */

import { IDEMPOTENCY_KEY_REUSED, IDEMPOTENT_PET_REMOVED, PetstoreError } from '../error.ts';
import type { NewPet, Pet } from '../pet.ts';
import type { PetStore } from '../store.ts';
import type { Engine, Row, SqlValue } from './engine.ts';
import { COLUMNS, isSamePet, toPet, toRow } from './pet-row.ts';

export function createPetStore(engine: Engine): PetStore {
  return {
    ...engine.petQueries,

    async add(newPet) {
      const row = toRow(newPet);
      // From the row that was inserted, so that the answer has nothing that is not stored.
      return toPet([(await engine.insertPet(row)) ?? null, ...row]);
    },

    async addOnce(newPet, request) {
      const row = toRow(newPet);
      const id = await engine.insertPet(row, request);
      if (id !== undefined) return toPet([id, ...row]);
      return getSame(newPet, await engine.findAdded(request));
    },

    addAll: (newPets) => engine.load('pets', COLUMNS, toRows(newPets)),
  };
}

async function* toRows(newPets: AsyncIterable<NewPet>): AsyncIterable<readonly SqlValue[]> {
  for await (const newPet of newPets) yield toRow(newPet);
}

/** The pet that the earlier request added, when it is the one that this request asks for. */
function getSame(newPet: NewPet, row: Row | undefined): Pet {
  // The key was purged between the two statements: its 24 hours have just ended.
  if (row === undefined) throw new PetstoreError('unavailable', 'the earlier request is forgotten');
  if (row[0] === null) throw new PetstoreError('gone', IDEMPOTENT_PET_REMOVED);
  const pet = toPet(row);
  if (isSamePet(pet, newPet)) return pet;
  throw new PetstoreError('idempotency_key_reused', IDEMPOTENCY_KEY_REUSED);
}
