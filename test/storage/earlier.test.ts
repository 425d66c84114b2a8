/** Every schema that a petstore ever made: a store of each is migrated, with its pets, keys and replays. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { NewPet, Pet } from '../../src/pet.ts';
import { SCHEMA } from '../../src/storage/migrations.ts';
import { openStore } from '../../src/storage/open.ts';
import { createTestDatabase, PATIENT } from '../support/postgres.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import { createFile } from '../support/sqlite.ts';
import { createNewKey, listAll, REX } from './contract/data.ts';
import { runBeside } from './contract/engines.ts';

/** Dumps of stores that the program of that time made: the engine, the schema, and which of several it is. */
const FOLDER = join(import.meta.dirname, 'earlier');
const DIGEST = new Uint8Array(32).fill(7);
/** The last one has an idempotency key, which schema 1 did not have. */
const TOM: NewPet = { name: 'Tom', categoryId: 9_007_199_254_740_993n };
const PETS: readonly Pet[] = [
  { id: 1n, name: 'Rex', categoryId: 1n, status: 'sold' },
  { id: 2n, name: 'Mia', categoryId: 2n },
  { id: 3n, ...TOM },
];

async function restore(name: string) {
  const sql = readFileSync(join(FOLDER, name), 'utf8');
  if (name.startsWith('postgresql')) {
    const database = await createTestDatabase();
    await queryOnce(database.address, sql);
    return database;
  }
  const file = createFile();
  using database = new DatabaseSync(file);
  database.exec(sql);
  return { address: `sqlite:${file}`, async [Symbol.asyncDispose]() {} };
}

for (const name of readdirSync(FOLDER)) {
  const schema = Number(/-(\d)/.exec(name)?.[1]);

  test(`a store of an earlier schema › ${name} › is refused, and migrated with all that it has`, async () => {
    await using place = await restore(name);
    const { address } = place;
    await assert.rejects(openStore(address, PATIENT), {
      ...{ name: 'PetstoreError', code: 'unavailable' },
      message: new RegExp(
        `is of an older petstore: its schema is ${schema}, this program needs ${SCHEMA}:`,
      ),
    });
    await using store = await openStore(address, { ...PATIENT, olderSchema: 'migrate' });
    const { pets, keys, foundSchema } = store;
    assert.equal(foundSchema, schema);
    const kept = schema === 1 ? PETS.slice(0, 2) : PETS;
    const lastId = BigInt(kept.length);
    assert.deepEqual(await listAll(store), kept);
    const key = await keys.find(DIGEST);
    assert.deepEqual([key?.id, key?.name], [1, 'first']);
    const replayed = schema > 1 ? [await pets.addOnce(TOM, { keyId: 1, key: 'once' })] : [];
    const expected = kept.slice(2).map((pet) => ({ pet, isReplay: true }));
    assert.deepEqual(replayed, expected);
    const request = { keyId: 1, key: 'new' };
    const { pet } = await pets.addOnce(REX, request);
    assert.equal(pet.id, lastId + 1n);
    await pets.update(pet, { ...REX, name: 'Mia' });
    assert.equal((await pets.addOnce(REX, request)).pet.name, 'Mia');
    assert.equal(
      (await pets.merge(ReadableStream.from([REX, REX]))).withNewIds.lastId,
      lastId + 3n,
    );
    const rotated = await keys.rotate(1, createNewKey({ isReadOnly: true }), 1_790_000_001_000);
    assert.equal(rotated.id, 2);
    await store.check();
  });
}

for (const engine of ['sqlite', 'postgresql']) {
  test(`a store of this schema on ${engine} › without a column › is refused in one line`, async () => {
    await using place = await restore(`${engine}-3.sql`);
    const { address } = place;
    await (await openStore(address, { ...PATIENT, olderSchema: 'migrate' })).close();
    await runBeside(address, 'alter table idempotency_keys drop column added_as');
    await assert.rejects(openStore(address, PATIENT), {
      ...{ name: 'PetstoreError', code: 'unavailable' },
      message:
        /^the database .*lacks a table or column that this program needs: restore it from a backup$/,
    });
  });
}
