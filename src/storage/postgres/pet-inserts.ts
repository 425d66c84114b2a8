/** How pets are added to PostgreSQL: one statement adds a batch. Several batches may be under way. */

import { IDEMPOTENCY_MS, type StoreCounts } from '../../store.ts';
import type { Engine, Row } from '../engine.ts';
import { createGroupCommit } from '../group-commit.ts';
import { COLUMNS, FIELDS } from '../pet-row.ts';
import { ANNOUNCE } from './settled-mark.ts';
import { NOW, toRecords } from './transaction.ts';

/** Of a row of `toBatch`. */
const BATCH_COLUMNS = ['number', ...COLUMNS, 'api_key_id', 'key_name'];

/**
 * Adds a batch of pets, except pets whose idempotency key is in use. Returns the number and the id of each added pet.
 *
 * `batch` sees only keys that were committed when the statement began. `reserved` waits for another process that is just
 * using a key, and leaves the key out. The order of the keys keeps two batches from waiting for each other.
 *
 * The time of a kept key is compared outside of `where`. In `where`, after a purge, the planner would take the index
 * by time, and read all keys of a day for each pet.
 */
const INSERT = `with batch as (
    select * from json_to_recordset(?) as pet (
      number bigint, ${FIELDS.map(({ column, type }) => `${column} ${type}`)}, api_key_id bigint, key_name text)
    where (select kept.created_at > ${NOW} - ${IDEMPOTENCY_MS} from idempotency_keys as kept
      where kept.api_key_id = pet.api_key_id and kept.name = pet.key_name) is not true
  ), announced as materialized (
    ${ANNOUNCE}
  ), numbered as (
    select ordered.*, nextval('pets_id') as id
    from (select batch.* from batch, announced order by number) as ordered
  ), reserved as (
    insert into idempotency_keys as kept (api_key_id, name, created_at, pet_id)
    select api_key_id, key_name, ${NOW}, id from numbered where key_name is not null
    order by api_key_id, key_name
    on conflict (api_key_id, name)
      do update set created_at = excluded.created_at, pet_id = excluded.pet_id, added_as = null
      where kept.created_at <= excluded.created_at - ${IDEMPOTENCY_MS}
    returning pet_id
  ), kept as (
    select * from numbered where key_name is null or id in (select pet_id from reserved)
  ), added as (
    insert into pets (id, ${COLUMNS}) select id, ${COLUMNS} from kept order by id
  )
  select number, id from kept`;

type Insert = Parameters<Engine['insertPet']>;

export function createPetInsert(
  write: Engine['write'],
  counts: StoreCounts,
  groupsMax: number,
): Engine['insertPet'] {
  const inserts = createGroupCommit(
    async (group: readonly Insert[]) => {
      const values = [toRecords(BATCH_COLUMNS, toBatch(group))];
      const [added = []] = await write({ sql: INSERT, values });
      const ids = new Map(added as [bigint, bigint][]);
      return group.map((_, index) => ids.get(BigInt(index)));
    },
    counts,
    groupsMax,
  );
  return (...insert) => inserts.add(insert);
}

/** Each create with its number. Of several creates with one key only the first; the others are replays. */
function toBatch(inserts: readonly Insert[]): Row[] {
  const names = new Set<string>();
  return inserts.flatMap(([row, request], number) => {
    if (!request) return [[number, ...row]];
    const { keyId, key } = request;
    const name = `${keyId} ${key}`;
    if (names.has(name)) return [];
    names.add(name);
    return [[number, ...row, keyId, key]];
  });
}
