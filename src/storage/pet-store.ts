/** Animals in a database, and how they are added; how they are read is in pets-near.ts and pets-far.ts. */

import { PetstoreError } from '../error.ts';
import type { NewPet, Pet } from '../pet.ts';
import { IDEMPOTENCY_MS, type PetStore } from '../store.ts';
import type { Database, Row, SqlValue } from './engine.ts';
import { COLUMNS, toPet } from './pet-row.ts';
import { createFarReads } from './postgres/pet-queries.ts';
import { createNearReads } from './sqlite/pet-queries.ts';

/** How many names of old requests each new one takes away. */
const FORGOTTEN_AT_ONCE = 10;
const CLAIM = `insert into idempotency_keys (api_key_id, name, created_at) values (?, ?, ?)
  on conflict (api_key_id, name) do update set created_at = excluded.created_at
  where idempotency_keys.created_at <= ? returning name`;
// The time once more: PostgreSQL looks only at the row itself again when it was claimed meanwhile.
const FORGET = `delete from idempotency_keys where created_at <= ? and (api_key_id, name) in (
  select api_key_id, name from idempotency_keys where created_at <= ?
  order by created_at limit ${FORGOTTEN_AT_ONCE})`;
const SETTLE = `update idempotency_keys set pet_id = (select max(id) from pets)
  where api_key_id = ? and name = ?`;
const FIND_ADDED = `select id, pets.name, category_id, status
  from idempotency_keys join pets on id = pet_id
  where api_key_id = ? and idempotency_keys.name = ?`;

export function createPetStore(database: Database): PetStore {
  const insert = database.createInsert('pets', COLUMNS);
  const insertOne = database.toInsert('pets', COLUMNS);
  const reads = database.readVersion
    ? createNearReads(database, database.readVersion)
    : createFarReads(database);

  return {
    ...reads,

    async add(newPet) {
      return { id: await insert(toValues(newPet)), ...newPet };
    },

    async addOnce(newPet, request) {
      const { keyId, key, at } = request;
      const oldest = at - IDEMPOTENCY_MS;
      const [[claimed, added]] = await Promise.all([
        database.write(
          { sql: CLAIM, values: [keyId, key, at, oldest], isCondition: true },
          { sql: insertOne, values: toValues(newPet) },
          { sql: SETTLE, values: [keyId, key] },
        ),
        // By itself: two that each hold a claim would wait for each other. What it leaves goes later.
        database.write({ sql: FORGET, values: [oldest, oldest] }).catch(() => undefined),
      ]);
      if (claimed?.length === 1) return { id: added?.[0]?.[0] as bigint, ...newPet };
      const [row] = await database.read(FIND_ADDED, keyId, key);
      return getSame(newPet, row);
    },

    addAll: (newPets) => database.load('pets', COLUMNS, toRows(newPets)),
  };
}

async function* toRows(newPets: AsyncIterable<NewPet>): AsyncIterable<readonly SqlValue[]> {
  for await (const newPet of newPets) yield toValues(newPet);
}

function toValues({ name, categoryId, status }: NewPet): SqlValue[] {
  return [name, categoryId, status ?? null];
}

/** The animal that an earlier request added, if it is what this one asks for. */
function getSame(newPet: NewPet, row: Row | undefined): Pet {
  // Its 24 hours ended just now.
  if (row === undefined) throw new PetstoreError('unavailable', 'the earlier request is forgotten');
  const pet = toPet(row);
  const isSame =
    pet.name === newPet.name &&
    pet.categoryId === newPet.categoryId &&
    pet.status === newPet.status;
  if (isSame) return pet;
  throw new PetstoreError(
    'idempotency_key_reused',
    'this Idempotency-Key was sent before with another animal: send a new one',
  );
}
