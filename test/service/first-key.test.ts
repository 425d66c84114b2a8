/** When a start makes a key, and when it says how to make one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ensureFirstKey } from '../../src/service/first-key.ts';
import type { ServeOptions } from '../../src/service/service.ts';
import { openStore } from '../../src/storage/open.ts';
import { createNewKey } from '../storage/contract/data.ts';
import { disposable } from '../support/disposable.ts';

test('ensureFirstKey › the only key has expired › says how to make one, and makes none', async () => {
  const database = 'sqlite::memory:';
  await using store = disposable(await openStore(database, { create: true }));
  await store.keys.add(createNewKey({ expiresAt: 1 }));
  const options = { environment: 'staging', host: '127.0.0.1', database } as ServeOptions;
  const [line] = await ensureFirstKey(options, 8080, store);
  assert.equal(line, 'No staging key is active. To make one:');
  assert.equal((await store.keys.list()).length, 1);
});
