/** How pets are read from SQLite, which makes the JSON text of a page, and how they are added. */

import { type Pet, toPetJson } from '../../pet.ts';
import type { PetQuery } from '../../pet-query.ts';
import {
  IDEMPOTENCY_MS,
  type IdempotentRequest,
  type JsonPage,
  type StoreCounts,
} from '../../store.ts';
import type { Engine, PetQueries, Row, Statement } from '../engine.ts';
import { createCache, toPageName } from '../page-cache.ts';
import { COLUMNS, findFilters, SELECT, toJsonSql, toPage, toPet } from '../pet-row.ts';

const FIND = `${SELECT} where id = ?`;
// Why SQLite makes the text: docs/decisions/6-lists.md.
const JSON_PET = toJsonSql('json_quote');
// The rows come in the order of the query in `from`: its `limit` keeps SQLite from merging it into this query. An
// `order by` inside group_concat would sort the rows again, which takes a sixth of the query's time.
const JSON_PETS = `'[' || coalesce(group_concat(${JSON_PET}, ','), '') || ']'`;
// The plan of `limit ?` depends on its value, so SQLite would plan at every call; `+ 0` prevents it.
const LIMIT = 'limit ? + 0';

/** The time in milliseconds since 1970. */
export const NOW = "cast(unixepoch('subsec') * 1000 as integer)";
const PLACES = COLUMNS.map(() => '?');
const INSERT = `insert into pets (${COLUMNS}) values (${PLACES}) returning id`;
const INSERT_UNLESS_RESERVED = `insert into pets (${COLUMNS}) select ${PLACES}
  where not exists (select 1 from idempotency_keys
    where api_key_id = ? and name = ? and created_at > ${NOW} - ${IDEMPOTENCY_MS}) returning id`;
/** An expired key is reserved anew. */
const RESERVE = `insert into idempotency_keys (api_key_id, name, created_at, pet_id)
  values (?, ?, ${NOW}, last_insert_rowid()) on conflict (api_key_id, name)
  do update set created_at = excluded.created_at, pet_id = excluded.pet_id, added_as = null`;

export function createPetQueries(
  uncountedRead: Engine['read'],
  readCommitCounter: () => number,
  counts: StoreCounts,
): PetQueries {
  const read: Engine['read'] = (sql, ...values) => {
    counts.reads += 1;
    return uncountedRead(sql, ...values);
  };
  const pets = createCache<Pet | undefined>(
    readCommitCounter,
    (pet) => pet && toPetJson(pet).length,
  );
  const pages = createCache<JsonPage>(readCommitCounter, ({ json }) => json.length);
  return {
    find: (id) =>
      pets(id, async () => {
        const [row] = await read(FIND, id);
        return row && toPet(row);
      }),

    async list(query) {
      const { toRest, values, after } = toSql(query);
      const sql = `${SELECT} ${toRest('?')} ${LIMIT}`;
      // One row above the limit tells whether there is a next page.
      const rows = await read(sql, ...values, after, query.limit + 1);
      return toPage(rows, query.limit);
    },

    listAsJson(query) {
      counts.pages += 1;
      return pages(toPageName(query), () => {
        counts.readPages += 1;
        return readJsonPage(read, query);
      });
    },
  };
}

/** The list of a query: `toRest` makes the end of a `select` of its pets behind an id, in its order. */
function toSql(query: PetQuery) {
  const filters = findFilters(query);
  const conditions = filters.map(({ column }) => `${column} = ? and `).join('');
  return {
    toRest: (id: string) => `where ${conditions}id > ${id} order by id`,
    values: filters.map(({ value }) => value),
    after: query.after ?? 0n,
  };
}

/** The query has one row: the page as JSON text, its last id, and whether there is a pet after it. */
async function readJsonPage(read: Engine['read'], query: PetQuery): Promise<JsonPage> {
  const { toRest, values, after } = toSql(query);
  const sql = `select json, last, exists (select 1 from pets ${toRest('last')}) from (
    select ${JSON_PETS} as json, max(id) as last from (${SELECT} ${toRest('?')} ${LIMIT}))`;
  const [row] = await read(sql, ...values, ...values, after, query.limit);
  const [json, next, hasMore] = row as [string, bigint, bigint];
  return hasMore === 1n ? { json, next } : { json };
}

export function toInsert(row: Row, request: IdempotentRequest | undefined): Statement[] {
  if (request === undefined) return [{ sql: INSERT, values: row }];
  const { keyId, key } = request;
  return [
    { sql: INSERT_UNLESS_RESERVED, values: [...row, keyId, key] },
    { sql: RESERVE, values: [keyId, key] },
  ];
}
