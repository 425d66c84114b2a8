/** What src/store.ts promises of `pets.count` of the store, on every engine. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeat } from './data.ts';
import { ENGINES, openNewStore, runBeside } from './engines.ts';

for (const engine of ENGINES) {
  test(`pets.count on ${engine.name} › pets that are added and removed › are those that are left`, async () => {
    await using opened = await openNewStore(engine);
    assert.equal(await opened.store.pets.count(), 0);
    await opened.store.pets.addAll(repeat(1_200));
    assert.equal(await opened.store.pets.count(), 1_200);
    if (!engine.persists) return;
    await runBeside(opened.address, 'delete from pets where id = 7');
    assert.equal(await opened.store.pets.count(), 1_199);
  });
}
