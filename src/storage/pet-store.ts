/** The port's PetStore on any engine. The engine reads pets by `petQueries` of its own. */

import { isDeepStrictEqual } from 'node:util';
import { IDEMPOTENT_PET_REMOVED, PetstoreError } from '../error.ts';
import { type NewPet, type Pet, toPetJson } from '../pet.ts';
import type { LongWork, PetStore } from '../store.ts';
import type { Engine, Row } from './engine.ts';
import { createMerge } from './pet-imports.ts';
import { COLUMNS, PET_COLUMNS, SELECT, toPet, toRow } from './pet-row.ts';

/** Updates only a pet that is still as it was read: two corrections at once cannot undo each other. */
const UPDATE = `update pets set ${COLUMNS.map((column) => `${column} = ?`)}
  where id = ? and ${COLUMNS.map((column) => `${column} is not distinct from ?`).join(' and ')}
  returning id`;
/** A repeated create is compared with the pet as it was added, not with the corrected pet. */
const KEEP_ADDED = 'update idempotency_keys set added_as = coalesce(added_as, ?) where pet_id = ?';
/**
 * The pet that was added with an idempotency key, and, if it was corrected, the pet as it was added, in JSON. For a
 * join, or for `id =`, PostgreSQL may read a whole index; the range, `limit` and `order by` leave it only the primary keys.
 */
const FIND_ADDED = `with kept as (
    select pet_id, added_as from idempotency_keys where api_key_id = ? and name = ? limit 1
  )
  select ${PET_COLUMNS}, (select added_as from kept) from pets
  where id >= (select pet_id from kept) and id <= (select pet_id from kept) order by id`;

/** SQLite takes at most 1,000 levels of an expression. */
const RANGES_AT_ONCE = 500;

export function createPetStore(engine: Engine): PetStore & LongWork {
  return {
    ...engine.petQueries,
    merge: createMerge(engine),
    remove: createRemove(engine),

    async add(newPet) {
      const row = toRow(newPet);
      const id = await engine.insertPet(row);
      if (id === undefined) throw new Error('the database added no row');
      // The pet is made of the inserted row, so the answer has nothing that is not stored.
      return toPet([id, ...row]);
    },

    async addOnce(newPet, request) {
      const row = toRow(newPet);
      const id = await engine.insertPet(row, request);
      if (id !== undefined) return { pet: toPet([id, ...row]), isReplay: false };
      const [added] = await engine.read(FIND_ADDED, request.keyId, request.key);
      return { pet: getSame(newPet, added), isReplay: true };
    },

    async update(old, newPet) {
      const { id } = old;
      const row = toRow(newPet);
      const [updated] = await engine.write(
        { sql: UPDATE, values: [...row, id, ...toRow(old)] },
        { sql: KEEP_ADDED, values: [toPetJson(old), id] },
      );
      if (updated?.length === 0) {
        throw new PetstoreError('conflict', `pet ${id} was changed or removed meanwhile`);
      }
      return toPet([id, ...row]);
    },
  };
}

/** The pet that the earlier request added, if this request asks for the same pet. */
function getSame(newPet: NewPet, row: Row | undefined): Pet {
  // The key is still there, since the purge keeps keys for an hour longer. So the pet was removed.
  if (row === undefined) throw new PetstoreError('gone', IDEMPOTENT_PET_REMOVED);
  const pet = toPet(row);
  const addedAs = row.at(-1) ?? toPetJson(pet);
  if (addedAs === toPetJson({ ...newPet, id: pet.id })) return pet;
  throw new PetstoreError('idempotency_key_reused');
}

function createRemove({ longTransaction }: Engine): LongWork['remove'] {
  return (ranges, dryRun, only) =>
    longTransaction(dryRun ? 'snapshot' : 'shared', async ({ read }) => {
      const pets = new Map<bigint, Pet>();
      for (let at = 0; at < ranges.length; at += RANGES_AT_ONCE) {
        const part = ranges.slice(at, at + RANGES_AT_ONCE);
        const where = `where ${part.map(() => 'id between ? and ?').join(' or ')}`;
        const remove = `delete from pets ${where} returning ${PET_COLUMNS}`;
        const values = part.flatMap(({ first, last }) => [first, last]);
        const rows = await read(dryRun ? `${SELECT} ${where}` : remove, ...values);
        for (const pet of rows.map(toPet)) pets.set(pet.id, pet);
      }
      for (const { first, last } of ranges) {
        if (pets.has(first) || pets.keys().some((id) => id >= first && id <= last)) continue;
        const range = first === last ? first : `${first}-${last}`;
        throw new PetstoreError('not_found', `there is no pet ${range}`);
      }
      const removed = [...pets.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
      if (only && !isDeepStrictEqual(removed, only)) {
        const message = 'the pets changed while they were printed: none is removed';
        throw new PetstoreError('conflict', message);
      }
      return removed;
    });
}
