/** A pet whose row the operator has removed: what the store says of it, on every engine. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { PetstoreError } from '../../src/error.ts';
import { openStore } from '../../src/storage/open.ts';
import type { Store } from '../../src/store.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import { createFolder } from '../support/temporary-folder.ts';

const REMOVE = 'delete from pets where id = 2';
const PET = { name: 'Rex', categoryId: 1n };

interface Place extends AsyncDisposable {
  readonly store: Store;
  /** Removes the pet with the id 2, as another process. */
  readonly remove: () => Promise<void>;
}

const ENGINES: Readonly<Record<string, () => Promise<Place>>> = {
  async sqlite() {
    const folder = await createFolder();
    const file = join(folder.path, 'test.db');
    const store = await openStore(`sqlite:${file}`, { create: true });
    return {
      store,
      async remove() {
        using connection = new DatabaseSync(file);
        connection.exec(REMOVE);
      },
      async [Symbol.asyncDispose]() {
        await store.close();
        await folder[Symbol.asyncDispose]();
      },
    };
  },
  async postgresql() {
    const { address, drop } = await createTestDatabase();
    const store = await openStore(address, { create: true });
    return {
      store,
      async remove() {
        await queryOnce(address, REMOVE);
      },
      async [Symbol.asyncDispose]() {
        await store.close();
        await drop();
      },
    };
  },
};

for (const [engine, open] of Object.entries(ENGINES)) {
  describe(`removed pet on ${engine}`, () => {
    test(`removed pet on ${engine} › its create is sent again › is gone, and not added again`, async () => {
      await using place = await open();
      const { pets } = place.store;
      const request = { keyId: 1, key: 'once', at: Date.now() };
      await pets.add(PET);
      assert.equal((await pets.addOnce(PET, request)).id, 2n);
      await place.remove();
      for (const newPet of [PET, { ...PET, name: 'Mia' }]) {
        await assert.rejects(pets.addOnce(newPet, request), (error) => {
          assert.ok(error instanceof PetstoreError);
          assert.equal(error.code, 'gone');
          assert.match(error.message, /Idempotency-Key .* was removed: send a new one/);
          return true;
        });
      }
      assert.equal(await pets.find(2n), undefined);
      assert.equal((await pets.add(PET)).id, 3n);
    });

    test(`removed pet on ${engine} › a page that was read before › is read anew without it`, async () => {
      await using place = await open();
      const { pets } = place.store;
      for (const name of ['a', 'b', 'c']) await pets.add({ ...PET, name });
      assert.match((await pets.listAsJson({ limit: 2 })).json, /"id":2/);
      await place.remove();
      await new Promise((resolve) => setImmediate(resolve));
      const { json, next } = await pets.listAsJson({ limit: 2 });
      assert.deepEqual(
        JSON.parse(json).map(({ id }: { id: number }) => id),
        [1, 3],
      );
      assert.equal(next, undefined);
    });

    test(`removed pet on ${engine} › it had the greatest id › its id is never used again`, async () => {
      await using place = await open();
      const { pets } = place.store;
      await pets.add(PET);
      await pets.add(PET);
      await place.remove();
      assert.equal((await pets.addOnce(PET, { keyId: 1, key: 'new', at: Date.now() })).id, 3n);
      assert.equal((await pets.addOnce(PET, { keyId: 1, key: 'new', at: Date.now() })).id, 3n);
    });
  });
}
