/** Animals read from a database in this process: a question costs little, and an answer stands while nobody writes. */

import type { JsonPage, PetQuery } from '../../store.ts';
import type { Database } from '../engine.ts';
import { keepPages } from '../page-cache.ts';
import { type PetReads, SELECT, toPage, toPet } from '../pet-row.ts';

const FIND = `${SELECT} where id = ?`;
// SQLite makes the text of a page, see docs/decisions/6-lists.md.
const JSON_PET = `json_object('id', id, 'name', name, 'categoryId', category_id`;
const JSON_PETS = `json_group_array(
  case when status is null then ${JSON_PET}) else ${JSON_PET}, 'status', status) end order by id)`;
// `+ 0`: SQLite looks into a bare `limit ?` while it plans, and then plans anew for every call.
const PAGE = 'id > ? order by id limit ? + 0';
const LIST = `${SELECT} where ${PAGE}`;
const LIST_OF_STATUS = `${SELECT} where status = ? and ${PAGE}`;
const LIST_JSON = toJsonQuery('', LIST);
const LIST_JSON_OF_STATUS = toJsonQuery('status = ? and', LIST_OF_STATUS);

export function createNearReads(database: Database, readVersion: () => number): PetReads {
  return {
    async find(id) {
      const [row] = await database.read(FIND, id);
      return row === undefined ? undefined : toPet(row);
    },

    async list({ limit, status, after = 0n }) {
      // One row more than asked for tells whether there is a next page.
      const rows =
        status === undefined
          ? await database.read(LIST, after, limit + 1)
          : await database.read(LIST_OF_STATUS, status, after, limit + 1);
      return toPage(rows, limit);
    },

    listJson: keepPages((query) => readJsonPage(database, query), readVersion),
  };
}

/** The page of a query as one text, its last id, and whether there is an animal behind it. */
function toJsonQuery(condition: string, query: string): string {
  return `select json, last, exists (select 1 from pets where ${condition} id > last)
    from (select ${JSON_PETS} as json, max(id) as last from (${query}))`;
}

async function readJsonPage(
  database: Database,
  { limit, status, after = 0n }: PetQuery,
): Promise<JsonPage> {
  const [row] =
    status === undefined
      ? await database.read(LIST_JSON, after, limit)
      : await database.read(LIST_JSON_OF_STATUS, status, status, after, limit);
  const [json, last, hasMore] = row as [string, bigint | null, bigint];
  return hasMore === 1n && last !== null ? { json, next: last } : { json };
}
