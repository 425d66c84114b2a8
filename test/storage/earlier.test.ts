/** The layout of each release, and layout 5 of the main branch: a store of each is migrated, with its pets, keys and replays. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiKey } from '../../src/api-key.ts';
import type { NewPet, Pet } from '../../src/pet.ts';
import { LAYOUT } from '../../src/storage/migrations.ts';
import { openStore } from '../../src/storage/open.ts';
import { openOlder } from '../support/older-store.ts';
import { PATIENT } from '../support/postgres.ts';
import { createNewKey, listAll, REX } from './contract/data.ts';
import { runBeside } from './contract/engines.ts';

const DIGEST = new Uint8Array(32).fill(7);
const KEY: ApiKey = { id: 1, name: 'first', environment: 'staging', createdAt: 1_790_000_000_000 };
/** It has an idempotency key. */
const TOM: NewPet = { name: 'Tom', categoryId: 9_007_199_254_740_993n };
const PETS: readonly Pet[] = [
  { id: 1n, name: 'Rex', categoryId: 1n, status: 'sold' },
  { id: 2n, name: 'Mia', categoryId: 2n },
  { id: 3n, ...TOM },
];

/** What only replicas of layouts before this one need. */
const BRIDGES = {
  sqlite: "select name from sqlite_schema where name = 'counters'",
  postgresql: `select relname from pg_class where relname = 'counters'
    union all select proname from pg_proc where pronamespace = current_schema()::regnamespace`,
};

for (const engine of ['sqlite', 'postgresql'] as const) {
  for (const layout of [2, 5]) {
    test(`a store on ${engine} › of layout ${layout} › is migrated with all that it has`, async () => {
      await using older = await openOlder(engine, layout);
      const { address } = older;
      const open = () => openStore(address, { ...PATIENT, olderLayout: 'migrate' });
      const [first, second] = await Promise.all([open(), open()]);
      await using store = first;
      await using other = second;
      assert.equal(Math.min(store.foundLayout, other.foundLayout), layout);
      const { pets, keys } = store;
      assert.deepEqual(await runBeside(address, BRIDGES[engine]), []);
      assert.deepEqual(await listAll(store), PETS);
      assert.deepEqual(await keys.find(DIGEST), KEY);
      const again = await pets.addOnce(TOM, { keyId: 1, key: 'once' });
      assert.deepEqual(again, { pet: PETS[2], isReplay: true });
      const request = { keyId: 1, key: 'new' };
      const { pet } = await pets.addOnce(REX, request);
      assert.equal(pet.id, 4n);
      await pets.update(pet, { ...REX, name: 'Mia' });
      assert.equal((await pets.addOnce(REX, request)).pet.name, 'Mia');
      assert.equal((await pets.merge(ReadableStream.from([REX, REX]))).withNewIds.lastId, 6n);
      const rotated = await keys.rotate(1, createNewKey({ isReadOnly: true }), 1_790_000_001_000);
      assert.equal(rotated.id, 2);
      await store.check();
    });
  }

  test(`a store on ${engine} › of a layout that no release had › is never migrated, and says what to do`, async () => {
    await using older = await openOlder(engine, 5);
    const { address, version } = older;
    for (const [layout, olderLayout] of [
      [1, undefined],
      [3, 'keep'],
      [4, 'migrate'],
    ] as const) {
      await runBeside(address, `${version} = ${layout}`);
      await assert.rejects(openStore(address, { ...PATIENT, olderLayout }), {
        ...{ name: 'PetstoreError', code: 'unavailable' },
        message: new RegExp(
          `its layout is ${layout}, this program needs ${LAYOUT}: no release had it: export its pets with the program that made it, import them with --by-id into a new store, and make new keys$`,
        ),
      });
    }
  });

  test(`a store of this layout on ${engine} › without a column › is refused in one line`, async () => {
    await using place = await openOlder(engine);
    const { address } = place;
    await (await openStore(address, { ...PATIENT, olderLayout: 'migrate' })).close();
    await runBeside(address, 'alter table idempotency_keys drop column added_as');
    await assert.rejects(openStore(address, PATIENT), {
      ...{ name: 'PetstoreError', code: 'unavailable' },
      message:
        /^the database .*lacks a table or column that this program needs: restore it from a backup$/,
    });
  });
}
