/** Animals read from a database on another machine: the way there is what costs, so the questions of one turn go together. */

import { toPetJson } from '../../pet.ts';
import type { JsonPage, PetPage, PetQuery } from '../../store.ts';
import { shareTrips } from '../batch-reads.ts';
import type { Database, Row } from '../engine.ts';
import { type PetReads, SELECT, toPage, toPet } from '../pet-row.ts';

const FIND = `${SELECT} where id = any(cast(? as bigint[]))`;
const LIST = toListSql('id > after order by id');
// PostgreSQL's planner would walk all animals where it guesses that enough are of the status; this
// leaves it one way, the index of both.
const LIST_OF_STATUS = toListSql(
  '(status, id) > (wanted, after) and status <= wanted order by status, id',
);

export function createFarReads(database: Database): PetReads {
  const list = shareLists(database, LIST);
  const listOfStatus = shareLists(database, LIST_OF_STATUS);

  return {
    find: shareTrips(async (ids) => {
      const rows = await database.read(FIND, `{${ids}}`);
      const pets = new Map(rows.map((row) => [row[0], toPet(row)]));
      return ids.map((id) => pets.get(id));
    }),

    async list(query) {
      const sql = query.status === undefined ? LIST : LIST_OF_STATUS;
      const [page = { pets: [] }] = await readPages(database, sql, [query]);
      return page;
    },

    listJson: (query) => (query.status === undefined ? list(query) : listOfStatus(query)),
  };
}

/** Equal queries of a turn are asked once. */
function shareLists(database: Database, sql: string): (query: PetQuery) => Promise<JsonPage> {
  return shareTrips(async (queries) => {
    const names = queries.map(({ limit, status, after }) => `${limit} ${status} ${after}`);
    const asked = new Map(names.map((name, index) => [name, queries[index] as PetQuery]));
    const pages = await readPages(database, sql, [...asked.values()]);
    const answers = pages.map(({ pets, ...next }) => ({
      json: `[${pets.map(toPetJson)}]`,
      ...next,
    }));
    const places = new Map([...asked.keys()].map((name, place) => [name, place]));
    return names.map((name) => answers[places.get(name) ?? -1] as JsonPage);
  });
}

/** The pages of several queries in one: each row begins with the place of its query, from 1. */
function toListSql(page: string): string {
  return `select place, page.* from
    unnest(cast(? as bigint[]), cast(? as bigint[]), cast(? as text[])) with ordinality
      as asked (after, most, wanted, place),
    lateral (${SELECT} where ${page} limit most) as page
    order by place, id`;
}

async function readPages(
  database: Database,
  sql: string,
  queries: readonly PetQuery[],
): Promise<PetPage[]> {
  const pages: Row[][] = queries.map(() => []);
  const rows = await database.read(
    sql,
    `{${queries.map(({ after = 0n }) => after)}}`,
    `{${queries.map(({ limit }) => limit + 1)}}`,
    `{${queries.map(({ status = '' }) => `"${status}"`)}}`,
  );
  for (const [place, ...row] of rows) pages[Number(place) - 1]?.push(row);
  return pages.map((page, index) => toPage(page, queries[index]?.limit ?? 0));
}
