/** The service on a naive store: one statement and one commit for each create, in one thread. */

import { DatabaseSync } from 'node:sqlite';
import { createApp } from '../../src/http/app.ts';
import { openLog } from '../../src/service/open-log.ts';
import { openStore } from '../../src/storage/open.ts';
import type { PetStore } from '../../src/store.ts';

const [port, file = ''] = process.argv.slice(2);

// Keys are read as in the service.
const store = await openStore(`sqlite:${file}`, { create: false });
const database = new DatabaseSync(file, { readBigInts: true });
database.exec('pragma synchronous = full');
const insert = database.prepare(
  'insert into pets (name, category_id, status) values (?, ?, ?) returning id',
);

const pets: PetStore = {
  ...store.pets,
  async add(newPet) {
    const { name, categoryId, status = null } = newPet;
    return { id: insert.get(name, categoryId, status)?.id as bigint, ...newPet };
  },
};

const app = await createApp({
  store: { ...store, pets },
  log: openLog('info').log,
  environment: 'staging',
  corsOrigin: ['*'],
  rehearse: false,
  retireGetPet: false,
  isStopping: () => false,
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
