/** Animals in a database: the queries and what becomes of their rows; how they are run is the engine's matter. */

import { PetstoreError } from '../error.ts';
import { type NewPet, type Pet, type PetStatus, toPetJson } from '../pet.ts';
import {
  IDEMPOTENCY_MS,
  type JsonPage,
  type PetPage,
  type PetQuery,
  type PetStore,
} from '../store.ts';
import type { Database, Row, SqlValue } from './database.ts';
import { keepPages } from './pages.ts';
import { shareEqual, shareTrips } from './trips.ts';

const COLUMNS = ['name', 'category_id', 'status'];
const SELECT = `select id, ${COLUMNS} from pets`;
const FIND = `${SELECT} where id = ?`;
const FIND_ALL = `${SELECT} where id = any(cast(? as bigint[]))`;
// SQLite makes the text of a page, see docs/decisions/6-lists.md.
const JSON_PET = `json_object('id', id, 'name', name, 'categoryId', category_id`;
const JSON_PETS = `json_group_array(
  case when status is null then ${JSON_PET}) else ${JSON_PET}, 'status', status) end order by id)`;
// `+ 0`: SQLite looks into a bare `limit ?` while it plans, and then plans anew for every call.
const PAGE = 'id > ? order by id limit ? + 0';
const LIST = `${SELECT} where ${PAGE}`;
const LIST_OF_STATUS = `${SELECT} where status = ? and ${PAGE}`;
// PostgreSQL's planner would walk all animals where it guesses that enough are of the status; this
// leaves it one way, the index of both.
const FAR_LIST_OF_STATUS = `${SELECT} where (status, id) > (?, ?) and status <= ?
  order by status, id limit ? + 0`;

/** How many names of old requests each new one takes away. */
const FORGOTTEN_AT_ONCE = 10;
const CLAIM = `insert into idempotency_keys (api_key_id, name, created_at) values (?, ?, ?)
  on conflict (api_key_id, name) do update set created_at = excluded.created_at
  where idempotency_keys.created_at <= ? returning name`;
// The time once more: PostgreSQL looks only at the row itself again when it was claimed meanwhile.
const FORGET = `delete from idempotency_keys where created_at <= ? and (api_key_id, name) in (
  select api_key_id, name from idempotency_keys where created_at <= ?
  order by created_at limit ${FORGOTTEN_AT_ONCE})`;
const SETTLE = `update idempotency_keys set pet_id = (select max(id) from pets)
  where api_key_id = ? and name = ?`;
const FIND_ADDED = `select id, pets.name, category_id, status
  from idempotency_keys join pets on id = pet_id
  where api_key_id = ? and idempotency_keys.name = ?`;

const LIST_JSON = toJsonQuery('', LIST);
const LIST_JSON_OF_STATUS = toJsonQuery('status = ? and', LIST_OF_STATUS);

export function createPetStore(database: Database): PetStore {
  const insert = database.createInsert('pets', COLUMNS);
  const insertOne = database.toInsert('pets', COLUMNS);
  const reads = database.readVersion
    ? createNearReads(database, database.readVersion)
    : createFarReads(database);

  return {
    ...reads,

    async add(newPet) {
      return { id: await insert(toValues(newPet)), ...newPet };
    },

    async addOnce(newPet, request) {
      const { keyId, key, at } = request;
      const oldest = at - IDEMPOTENCY_MS;
      const [[claimed, added]] = await Promise.all([
        database.write(
          { sql: CLAIM, values: [keyId, key, at, oldest], isCondition: true },
          { sql: insertOne, values: toValues(newPet) },
          { sql: SETTLE, values: [keyId, key] },
        ),
        // By itself: two that each hold a claim would wait for each other. What it leaves goes later.
        database.write({ sql: FORGET, values: [oldest, oldest] }).catch(() => undefined),
      ]);
      if (claimed?.length === 1) return { id: added?.[0]?.[0] as bigint, ...newPet };
      const [row] = await database.read(FIND_ADDED, keyId, key);
      return getSame(newPet, row);
    },

    addAll: (newPets) => database.load('pets', COLUMNS, toRows(newPets)),

    async list(query) {
      return toPage(await readPage(database, query), query.limit);
    },
  };
}

type Reads = Pick<PetStore, 'find' | 'listJson'>;

/** In this process: a question costs little, and what was answered stays right while nobody writes. */
function createNearReads(database: Database, readVersion: () => number): Reads {
  return {
    async find(id) {
      const [row] = await database.read(FIND, id);
      return row === undefined ? undefined : toPet(row);
    },

    listJson: keepPages((query) => readJsonPage(database, query), readVersion),
  };
}

/** On another machine: the way there is what costs, so the questions of one turn go together. */
function createFarReads(database: Database): Reads {
  return {
    find: shareTrips(async (ids) => {
      const rows = await database.read(FIND_ALL, `{${ids}}`);
      const pets = new Map(rows.map((row) => [row[0], toPet(row)]));
      return ids.map((id) => pets.get(id));
    }),

    listJson: shareEqual(
      async (query) => {
        const { pets, ...next } = toPage(await readPage(database, query), query.limit);
        return { json: `[${pets.map(toPetJson)}]`, ...next };
      },
      ({ limit, status, after }) => `${limit} ${status} ${after}`,
    ),
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

/** One row more than asked for: it tells whether there is a next page. */
function readPage(database: Database, { limit, status, after = 0n }: PetQuery): Promise<Row[]> {
  if (status === undefined) return database.read(LIST, after, limit + 1);
  return database.readVersion
    ? database.read(LIST_OF_STATUS, status, after, limit + 1)
    : database.read(FAR_LIST_OF_STATUS, status, after, status, limit + 1);
}

function toPage(rows: readonly Row[], limit: number): PetPage {
  const pets = rows.slice(0, limit).map(toPet);
  const last = pets.at(-1);
  return rows.length > limit && last !== undefined ? { pets, next: last.id } : { pets };
}

async function* toRows(newPets: AsyncIterable<NewPet>): AsyncIterable<readonly SqlValue[]> {
  for await (const newPet of newPets) yield toValues(newPet);
}

function toValues({ name, categoryId, status }: NewPet): SqlValue[] {
  return [name, categoryId, status ?? null];
}

/** The animal that an earlier request added, if it is what this one asks for. */
function getSame(newPet: NewPet, row: Row | undefined): Pet {
  // Its 24 hours ended just now.
  if (row === undefined) throw new PetstoreError('unavailable', 'the earlier request is forgotten');
  const pet = toPet(row);
  const isSame =
    pet.name === newPet.name &&
    pet.categoryId === newPet.categoryId &&
    pet.status === newPet.status;
  if (isSame) return pet;
  throw new PetstoreError(
    'idempotency_key_reused',
    'this Idempotency-Key was sent before with another animal: send a new one',
  );
}

function toPet(row: Row): Pet {
  const [id, name, categoryId, status] = row as [bigint, string, bigint, PetStatus | null];
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}
