/** How pets are added to SQLite; the group commit shares a transaction between several creates. */

import { IDEMPOTENCY_MS } from '../../store.ts';
import type { Engine, Statement } from '../engine.ts';
import { COLUMNS } from '../pet-row.ts';

const PLACES = COLUMNS.map(() => '?');
const INSERT = `insert into pets (${COLUMNS}) values (${PLACES}) returning id`;
const INSERT_UNLESS_RESERVED = `insert into pets (${COLUMNS}) select ${PLACES}
  where not exists (select 1 from idempotency_keys
    where api_key_id = ? and name = ? and created_at > ?) returning id`;
/** An expired key is reserved anew. */
const RESERVE = `insert into idempotency_keys (api_key_id, name, created_at, pet_id)
  values (?, ?, ?, last_insert_rowid()) on conflict (api_key_id, name)
  do update set created_at = excluded.created_at, pet_id = excluded.pet_id, added_as = null`;

/** The pet of an idempotency key, as `findAdded` has it. */
export const FIND_ADDED = `select pets.id, ${COLUMNS.map((column) => `pets.${column}`)}, kept.added_as
  from idempotency_keys as kept left join pets on pets.id = kept.pet_id
  where api_key_id = ? and kept.name = ?`;

export function createPetInsert(write: Engine['write']): Engine['insertPet'] {
  return async (row, request) => {
    const statements: Statement[] = [];
    if (request === undefined) {
      statements.push({ sql: INSERT, values: row });
    } else {
      const { keyId, key, at } = request;
      const values = [...row, keyId, key, at - IDEMPOTENCY_MS];
      statements.push(
        { sql: INSERT_UNLESS_RESERVED, values, stopIfEmpty: true },
        { sql: RESERVE, values: [keyId, key, at] },
      );
    }
    const [added] = await write(...statements);
    return added?.[0]?.[0] as bigint | undefined;
  };
}
