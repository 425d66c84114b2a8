/** What src/store.ts promises of `pets.seed` of the store, on every engine. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generatePets } from '../../../src/sample.ts';
import { listAll, REX } from './data.ts';
import { ENGINES, openNewStore } from './engines.ts';

const samples = () => generatePets({ count: 1_001, seed: 1 });

for (const engine of ENGINES) {
  const on = `on ${engine.name}`;

  describe(`pets.seed ${on}`, () => {
    test(`pets.seed ${on} › a new store › has exactly these pets, and the next id follows`, async () => {
      await using opened = await openNewStore(engine);
      assert.equal(await opened.store.pets.seed(samples()), true);
      const expected = [];
      for await (const pet of samples()) expected.push(pet);
      assert.deepEqual(await listAll(opened.store), expected);
      assert.equal((await opened.store.pets.add(REX)).id, 1_002n);
    });

    test(`pets.seed ${on} › a store whose only pet was removed › adds none`, async () => {
      await using opened = await openNewStore(engine);
      await opened.store.pets.add(REX);
      await opened.store.pets.remove(1n);
      assert.equal(await opened.store.pets.seed(samples()), false);
      assert.deepEqual(await listAll(opened.store), []);
    });

    if (engine.persists) {
      test(`pets.seed ${on} › from three processes at once › adds the pets once`, async () => {
        await using opened = await openNewStore(engine);
        const stores = [opened.store, await opened.openAgain(), await opened.openAgain()];
        const seeded = await Promise.all(stores.map(({ pets }) => pets.seed(samples())));
        assert.deepEqual(seeded.sort(), [false, false, true]);
        assert.equal(await opened.store.pets.count(), 1_001);
      });
    }
  });
}
