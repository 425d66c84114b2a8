/** Pets in a database: how they are added, idempotent requests included. How they are read is each engine's `petQueries`. */

import { IDEMPOTENCY_KEY_REUSED, IDEMPOTENT_PET_REMOVED, PetstoreError } from '../error.ts';
import type { NewPet, Pet } from '../pet.ts';
import { IDEMPOTENCY_MS, type PetStore } from '../store.ts';
import type { Engine, Row, SqlValue } from './engine.ts';
import { COLUMNS, isSamePet, toPet, toRow } from './pet-row.ts';

/** Returns a row when the idempotency key is new or expired: then this request adds the pet. */
const RESERVE = `insert into idempotency_keys (api_key_id, name, created_at) values (?, ?, ?)
  on conflict (api_key_id, name) do update set created_at = excluded.created_at
  where idempotency_keys.created_at <= ? returning name`;
const LINK = `update idempotency_keys set pet_id = (select max(id) from pets)
  where api_key_id = ? and name = ?`;
// Idempotency keys outlive a pet that was removed: the row has a null id then.
const FIND_ADDED = `select pets.id, ${COLUMNS.map((column) => `pets.${column}`)}
  from idempotency_keys left join pets on pets.id = pet_id
  where api_key_id = ? and idempotency_keys.name = ?`;

export function createPetStore(engine: Engine): PetStore {
  const insert = engine.batchedInsert('pets', COLUMNS);
  const insertOne = engine.toInsert('pets', COLUMNS);

  return {
    ...engine.petQueries,

    async add(newPet) {
      const row = toRow(newPet);
      // From the row that was inserted, so that the answer has nothing that is not stored.
      return toPet([await insert(row), ...row]);
    },

    async addOnce(newPet, request) {
      const { keyId, key, at } = request;
      const expired = at - IDEMPOTENCY_MS;
      const row = toRow(newPet);
      const [reserved, added] = await engine.write(
        { sql: RESERVE, values: [keyId, key, at, expired], stopIfEmpty: true },
        { sql: insertOne, values: row },
        { sql: LINK, values: [keyId, key] },
      );
      if (reserved?.length === 1) return toPet([added?.[0]?.[0] ?? null, ...row]);
      const [earlier] = await engine.read(FIND_ADDED, keyId, key);
      return getSame(newPet, earlier);
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
