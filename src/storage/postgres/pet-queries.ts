/** How pets are read from PostgreSQL: the reads of one turn of the event loop are one query, so that they share a round trip. */

import { toPetJson } from '../../pet.ts';
import type { JsonPage, PetPage, PetQuery } from '../../store.ts';
import { batchReads } from '../batch-reads.ts';
import type { Engine, PetQueries, Row } from '../engine.ts';
import { LISTS_AT_ONCE_MAX } from '../limits.ts';
import { SELECT, toPage, toPet } from '../pet-row.ts';

// Without the order the planner may take the index by status and id, all of which it then reads.
const FIND = `${SELECT} where id = any(cast(? as bigint[])) order by id`;
const LIST = toListSql('id > after order by id');
// `status = status_filter` would let the planner walk all pets by id where it expects enough of that
// status; this condition leaves it only the index of both.
const LIST_OF_STATUS = toListSql(
  '(status, id) > (status_filter, after) and status <= status_filter order by status, id',
);

export function createPetQueries(read: Engine['read']): PetQueries {
  const list = batchLists(read, LIST);
  const listOfStatus = batchLists(read, LIST_OF_STATUS);

  return {
    find: batchReads(async (ids) => {
      const rows = await read(FIND, `{${ids}}`);
      const pets = new Map(rows.map((row) => [row[0], toPet(row)]));
      return ids.map((id) => pets.get(id));
    }),

    async list(query) {
      const sql = query.status === undefined ? LIST : LIST_OF_STATUS;
      const [page = { pets: [] }] = await readPages(read, sql, [query]);
      return page;
    },

    listAsJson: (query) => (query.status === undefined ? list(query) : listOfStatus(query)),
  };
}

/** Equal queries of a batch are executed once. */
function batchLists(read: Engine['read'], sql: string): (query: PetQuery) => Promise<JsonPage> {
  return batchReads(async (queries) => {
    const names = queries.map(({ limit, status, after }) => `${limit} ${status} ${after}`);
    const different = new Map(names.map((name, index) => [name, queries[index] as PetQuery]));
    const pages = await readPages(read, sql, [...different.values()]);
    const jsonPages = pages.map(({ pets, ...next }) => ({
      json: `[${pets.map(toPetJson)}]`,
      ...next,
    }));
    const pageOf = new Map([...different.keys()].map((name, index) => [name, jsonPages[index]]));
    return names.map((name) => pageOf.get(name) as JsonPage);
  }, LISTS_AT_ONCE_MAX);
}

/** The pages of several queries at once: each row begins with the index of its query, from 1. */
function toListSql(page: string): string {
  return `select index, page.* from
    unnest(cast(? as bigint[]), cast(? as bigint[]), cast(? as text[])) with ordinality
      as queries (after, request_limit, status_filter, index),
    lateral (${SELECT} where ${page} limit request_limit) as page
    order by index, id`;
}

async function readPages(
  read: Engine['read'],
  sql: string,
  queries: readonly PetQuery[],
): Promise<PetPage[]> {
  const pages: Row[][] = queries.map(() => []);
  const rows = await read(
    sql,
    `{${queries.map(({ after = 0n }) => after)}}`,
    `{${queries.map(({ limit }) => limit + 1)}}`,
    `{${queries.map(({ status = '' }) => `"${status}"`)}}`,
  );
  for (const [index, ...row] of rows) pages[Number(index) - 1]?.push(row);
  return pages.map((page, index) => toPage(page, queries[index]?.limit ?? 0));
}
