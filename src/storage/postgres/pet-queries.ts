/** How pets are read from PostgreSQL: the reads of one turn of the event loop are one query, in one round trip. */

import { toPetJson } from '../../pet.ts';
import type { PetQuery } from '../../pet-query.ts';
import type { PetPage } from '../../store.ts';
import { batchReads } from '../batch-reads.ts';
import type { PetQueries, Row } from '../engine.ts';
import { toPageName } from '../page-cache.ts';
import { findFilters, SELECT, toPage, toPet } from '../pet-row.ts';
import type { Pools } from './pool.ts';
import { type MarkedPage, readMarked, settle } from './settled-mark.ts';
import { toRecords } from './transaction.ts';

// One turn parses all the rows of these lists, at most 5,000. More lists wait for the next turn.
const LISTS = { max: 50 };

// Without the order the planner may read the whole index by status and id.
const FIND = `${SELECT} where id = any(cast(? as bigint[])) order by id`;

export function createPetQueries(read: Pools['reads']['run']): PetQueries {
  const readPage = batchReads((queries: readonly PetQuery[]) => {
    const pages = new Map<string, Promise<MarkedPage>>();
    // Equal queries are executed once, and those that differ only in values together.
    const different = new Map(queries.map((query) => [toPageName(query), query]));
    for (const [sql, alike] of Map.groupBy(different.values(), toListSql)) {
      const reading = queryPages(read, sql, alike);
      for (const [index, query] of alike.entries()) {
        const page = reading.then((marked) => marked[index] as MarkedPage);
        pages.set(toPageName(query), page);
      }
    }
    return queries.map((query) => pages.get(toPageName(query)) as Promise<MarkedPage>);
  }, LISTS);
  const list = (query: PetQuery) => settle(() => readPage(query));
  // Equal queries share a page, so its text is made once.
  const texts = new WeakMap<PetPage, string>();

  return {
    find: batchReads((ids) => {
      const reading = read((connection) => connection.run(FIND, `{${ids}}`)).then(
        (rows) => new Map(rows.map((row) => [row[0], toPet(row)])),
      );
      return ids.map(async (id) => (await reading).get(id));
    }),

    list,

    async listAsJson(query) {
      const page = await list(query);
      const { pets, ...next } = page;
      const json = texts.get(page) ?? `[${pets.map(toPetJson)}]`;
      texts.set(page, json);
      return { json, ...next };
    },
  };
}

/** The SQL of all queries like this one. Each row ends with the number of the query to whose page it belongs. */
function toListSql(query: PetQuery): string {
  const types = findFilters(query).map(({ column, type }) => `${column} ${type}`);
  return `select page.*, number from
    json_to_recordset(?) as asked (${['number int', 'after bigint', 'count bigint', ...types]}),
    lateral (${SELECT} where ${toPageSql(query)} limit asked.count) as page
    order by number, id`;
}

/**
 * With `status = asked.status`, if the planner expects many pets of this status, it would read all pets by id. The
 * condition on the row leaves only the index of the filters and the id.
 */
function toPageSql(query: PetQuery): string {
  const columns = findFilters(query).map(({ column }) => column);
  if (columns.length === 0) return 'id > asked.after order by id';
  const asked = columns.map((column) => `asked.${column}`);
  return `(${columns}, id) > (${asked}, asked.after) and (${columns}) <= (${asked})
    order by ${columns}, id`;
}

function queryPages(read: Pools['reads']['run'], sql: string, queries: readonly PetQuery[]) {
  const asked = queries.map((query, number) => [
    number,
    query.after ?? 0n,
    query.limit + 1,
    ...findFilters(query).map(({ value }) => value),
  ]);
  const [first] = queries as [PetQuery];
  const columns = ['number', 'after', 'count', ...findFilters(first).map(({ column }) => column)];
  const values = [toRecords(columns, asked)];
  const toPages = (rows: Row[]) => {
    const pages = Map.groupBy(rows, (row) => row.at(-1));
    return queries.map(({ limit }, number) => toPage(pages.get(number) ?? [], limit));
  };
  return read((connection) => readMarked(connection, { sql, values }, toPages));
}
