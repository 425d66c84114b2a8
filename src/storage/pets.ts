/** Animals in a database: the queries and what becomes of their rows, for every engine. */

import type { NewPet, Pet, PetStatus } from '../pet.ts';
import type { PetPage, PetQuery, PetStore } from '../store.ts';
import type { Database, Row, SqlValue } from './database.ts';

const COLUMNS = ['name', 'category_id', 'status'];
const INSERT = `insert into pets (${COLUMNS}) values (?, ?, ?) returning id`;
const SELECT = `select id, ${COLUMNS} from pets`;
const FIND = `${SELECT} where id = ?`;
const LIST = `${SELECT} where id > ? order by id limit ?`;
const LIST_OF_STATUS = `${SELECT} where status = ? and id > ? order by id limit ?`;

export function createPetStore(database: Database): PetStore {
  return {
    async add(newPet) {
      const [rows] = await database.write({ sql: INSERT, values: toValues(newPet) });
      return { id: rows?.[0]?.[0] as bigint, ...newPet };
    },

    addAll: (newPets) => database.load('pets', COLUMNS, toRows(newPets)),

    async find(id) {
      const [row] = await database.read(FIND, id);
      return row === undefined ? undefined : toPet(row);
    },

    async list(query) {
      return toPage(await readPage(database, query), query.limit);
    },
  };
}

/** One row more than asked for: it tells whether there is a next page. */
function readPage(database: Database, { limit, status, after = 0n }: PetQuery): Promise<Row[]> {
  return status === undefined
    ? database.read(LIST, after, limit + 1)
    : database.read(LIST_OF_STATUS, status, after, limit + 1);
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

function toPet([id, name, categoryId, status]: Row): Pet {
  const pet = { id: id as bigint, name: name as string, categoryId: categoryId as bigint };
  return status === null ? pet : { ...pet, status: status as PetStatus };
}
