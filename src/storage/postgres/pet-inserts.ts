/** How pets are added to PostgreSQL: one statement adds a batch, so the counter is locked for one commit. */

import type { Statistics } from '../../statistics.ts';
import { IDEMPOTENCY_MS, type IdempotentRequest } from '../../store.ts';
import type { Engine, Row } from '../engine.ts';
import { GroupCommit, toRowBytes } from '../group-commit.ts';
import { COLUMNS, FIELDS } from '../pet-row.ts';
import { NOT_NULL_VIOLATION, toCode } from './errors.ts';
import { toRecords } from './transaction.ts';

/** Of a row of `toBatch`. */
const BATCH_COLUMNS = ['number', ...COLUMNS, 'api_key_id', 'key_name', 'key_created_at'];

/**
 * Adds a batch of pets, except pets whose idempotency key is in use. Returns the number and the id of each pet that
 * was added.
 *
 * `batch` sees only keys that were committed when the statement began. Another process may commit the same key while
 * this statement waits for the counter. Then `reserved` lacks the key, and all pets get null as their id. `not null`
 * refuses them, and the batch is sent again.
 *
 * The time of a kept key is compared outside of `where`. In `where`, after a purge, the planner would take the index
 * by time, and read all keys of a day for each pet.
 */
const INSERT = `with batch as (
    select * from json_to_recordset(?) as pet (
      number bigint, ${FIELDS.map(({ column, type }) => `${column} ${type}`)},
      api_key_id bigint, key_name text, key_created_at bigint)
    where (select kept.created_at > pet.key_created_at - ${IDEMPOTENCY_MS} from idempotency_keys as kept
      where kept.api_key_id = pet.api_key_id and kept.name = pet.key_name) is not true
  ), counted as (
    update counters set value = value + (select count(*) from batch)
    where name = 'pets' and exists (select from batch) returning value
  ), numbered as (
    select batch.*, value - count(*) over () + row_number() over (order by number) as id
    from batch, counted
  ), reserved as (
    insert into idempotency_keys as kept (api_key_id, name, created_at, pet_id)
    select api_key_id, key_name, key_created_at, id from numbered where key_name is not null
    on conflict (api_key_id, name)
      do update set created_at = excluded.created_at, pet_id = excluded.pet_id, added_as = null
      where kept.created_at <= excluded.created_at - ${IDEMPOTENCY_MS}
    returning true
  ), added as (
    insert into pets (id, ${COLUMNS})
    select case when (select count(*) from reserved) = (select count(key_name) from numbered) then id end,
      ${COLUMNS} from numbered order by id
  )
  select number, id from numbered`;

interface Insert {
  readonly row: Row;
  readonly request: IdempotentRequest | undefined;
}

export function createPetInsert(
  write: Engine['write'],
  statistics: Statistics,
  waitMsMax: number,
): Engine['insertPet'] {
  async function insertAll(
    inserts: readonly Insert[],
    isAgain = false,
  ): Promise<(bigint | undefined)[]> {
    const values = [toRecords(BATCH_COLUMNS, toBatch(inserts))];
    try {
      const [added = []] = await write({ sql: INSERT, values });
      const ids = new Map(added as [bigint, bigint][]);
      return inserts.map((_, index) => ids.get(BigInt(index)));
    } catch (error) {
      // Another process has just used one of the keys. The next statement sees it.
      if (toCode(error) === NOT_NULL_VIOLATION && !isAgain) return insertAll(inserts, true);
      throw error;
    }
  }

  const inserts = new GroupCommit(insertAll, statistics, waitMsMax);
  return (row, request) =>
    inserts.add({ row, request }, toRowBytes([...row, request?.key ?? null]));
}

/** Each create with its number. Of several creates with one key only the first; the others are replays. */
function toBatch(inserts: readonly Insert[]): Row[] {
  const names = new Set<string>();
  return inserts.flatMap(({ row, request }, number) => {
    if (!request) return [[number, ...row]];
    const { keyId, key, at } = request;
    const name = `${keyId} ${key}`;
    if (names.has(name)) return [];
    names.add(name);
    return [[number, ...row, keyId, key, at]];
  });
}
