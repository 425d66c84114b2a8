/** The service on a naive store: one statement and one commit for each request, in one thread, without a cache. */

import { DatabaseSync } from 'node:sqlite';
import { createApp } from '../../src/http/app.ts';
import { type Pet, type PetStatus, toPetJson } from '../../src/pet.ts';
import { openLog } from '../../src/service/open-log.ts';
import { openStore } from '../../src/storage/open.ts';
import type { PetStore } from '../../src/store.ts';

const [port, file = ''] = process.argv.slice(2);

// Keys are read as in the service.
const store = await openStore(`sqlite:${file}`, { create: false });
const database = new DatabaseSync(file, { readBigInts: true });
database.exec('pragma synchronous = full');
const columns = 'id, name, category_id, status';
const insert = database.prepare(
  'insert into pets (name, category_id, status) values (?, ?, ?) returning id',
);
const find = database.prepare(`select ${columns} from pets where id = ?`);
const list = database.prepare(`select ${columns} from pets where id > ? order by id limit ?`);

const pets: PetStore = {
  ...store.pets,
  async add(newPet) {
    const { name, categoryId, status = null } = newPet;
    return { id: insert.get(name, categoryId, status)?.id as bigint, ...newPet };
  },
  async find(id) {
    const row = find.get(id);
    return row && toPet(row);
  },
  async listAsJson({ limit, after = 0n }) {
    const rows = list.all(after, limit + 1).map(toPet);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const json = `[${page.map(toPetJson)}]`;
    return rows.length > limit && last !== undefined ? { json, next: last.id } : { json };
  },
};

function toPet({ id, name, category_id, status }: Record<string, unknown>): Pet {
  const pet = { id: id as bigint, name: name as string, categoryId: category_id as bigint };
  return status === null ? pet : { ...pet, status: status as PetStatus };
}

const app = await createApp({
  store: { ...store, pets },
  log: openLog('info').log,
  environment: 'staging',
  corsOrigin: ['*'],
  rehearse: false,
  retireGetPet: false,
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
