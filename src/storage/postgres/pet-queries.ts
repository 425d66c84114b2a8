/** How pets are read from PostgreSQL: the reads of one turn of the event loop are one query, in one round trip. */

import { toPetJson } from '../../pet.ts';
import type { JsonPage, PetPage, PetQuery } from '../../store.ts';
import { batchReads } from '../batch-reads.ts';
import type { Engine, PetQueries } from '../engine.ts';
import { LIMITS } from '../limits.ts';
import { toPageName } from '../page-cache.ts';
import { FILTERS, SELECT, toPage, toPet } from '../pet-row.ts';
import { toRecords } from './transaction.ts';

// Without the order the planner may read the whole index by status and id.
const FIND = `${SELECT} where id = any(cast(? as bigint[])) order by id`;

type Filters = typeof FILTERS;

export function createPetQueries(read: Engine['read']): PetQueries {
  /** By the names of the filters. */
  const batches = new Map<string, (query: PetQuery) => Promise<JsonPage>>();

  return {
    find: batchReads((ids) => {
      const reading = read(FIND, `{${ids}}`).then(
        (rows) => new Map(rows.map((row) => [row[0], toPet(row)])),
      );
      return ids.map(async (id) => (await reading).get(id));
    }),

    async list(query) {
      const [page = { pets: [] }] = await readPages(read, [query]);
      return page;
    },

    listAsJson(query) {
      const names = findFilters(query)
        .map(({ name }) => name)
        .join();
      const list = batches.get(names) ?? batchLists(read);
      batches.set(names, list);
      return list(query);
    },
  };
}

function findFilters(query: PetQuery): Filters {
  return FILTERS.filter(({ name }) => query[name] !== undefined);
}

/** Equal queries of a batch are executed once. */
function batchLists(read: Engine['read']) {
  return batchReads((waiting: readonly PetQuery[]) => {
    const queries = waiting.slice(0, LIMITS.LISTS_AT_ONCE_MAX);
    const names = queries.map(toPageName);
    const different = new Map(names.map((name, index) => [name, queries[index] as PetQuery]));
    const order = [...different.keys()];
    const reading = readPages(read, [...different.values()]).then((pages) => pages.map(toJsonPage));
    return names.map(async (name) => (await reading)[order.indexOf(name)] as JsonPage);
  });
}

function toJsonPage({ pets, ...next }: PetPage): JsonPage {
  return { json: `[${pets.map(toPetJson)}]`, ...next };
}

/** Each row ends with the number of the query to whose page it belongs. */
function toListSql(filters: Filters): string {
  const types = filters.map(({ column, type }) => `${column} ${type}`);
  return `select page.*, number from
    json_to_recordset(?) as asked (${['number int', 'after bigint', 'count bigint', ...types]}),
    lateral (${SELECT} where ${toPageSql(filters)} limit asked.count) as page
    order by number, id`;
}

/**
 * With `status = asked.status`, if the planner expects many pets of this status, it would read all pets by id. The
 * condition on the first filter leaves only the index of its column and the id.
 */
function toPageSql([first, ...others]: Filters): string {
  if (first === undefined) return 'id > asked.after order by id';
  const { column } = first;
  const equal = others.map((other) => ` and ${other.column} = asked.${other.column}`).join('');
  return `(${column}, id) > (asked.${column}, asked.after) and ${column} <= asked.${column}${equal}
    order by ${column}, id`;
}

/** @param queries all have the same filters. */
async function readPages(read: Engine['read'], queries: readonly PetQuery[]): Promise<PetPage[]> {
  const filters = findFilters(queries[0] as PetQuery);
  const columns = ['number', 'after', 'count', ...filters.map(({ column }) => column)];
  const asked = queries.map((query, number) => [
    number,
    query.after ?? 0n,
    query.limit + 1,
    ...filters.map(({ name }) => query[name] ?? null),
  ]);
  const rows = await read(toListSql(filters), toRecords(columns, asked));
  const pages = Map.groupBy(rows, (row) => row.at(-1));
  return queries.map(({ limit }, number) => toPage(pages.get(number) ?? [], limit));
}
