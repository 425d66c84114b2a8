/** When a start makes a key, and when it says how to make one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestApiKey } from '../../src/api-key.ts';
import { PetstoreError } from '../../src/error.ts';
import type { ServeOptions } from '../../src/service/serve-options.ts';
import { ensureFirstKey } from '../../src/service/served-store.ts';
import { openStore } from '../../src/storage/open.ts';
import { createNewKey } from '../storage/contract/data.ts';
import { disposable } from '../support/disposable.ts';

const database = 'sqlite::memory:';
const options = { environment: 'staging', host: '127.0.0.1', database } as ServeOptions;

test('ensureFirstKey › a key has expired, the other is revoked › says how to make one, and makes none', async (t) => {
  await using store = disposable(await openStore(database, { create: true }));
  await store.keys.add(createNewKey({ expiresAt: 1 }));
  await store.keys.add(createNewKey());
  await store.keys.revoke(2, 1);
  t.mock.property(process, 'argv', ['node', '/usr/local/bin/petstore']);
  const { notes, secret } = await ensureFirstKey(options, 8080, store);
  const command =
    "petstore keys create --name NAME --environment staging --database 'sqlite::memory:'";
  assert.deepEqual(notes, [`No staging key is active. To make one:\n  ${command}`]);
  assert.equal(secret, undefined);
  assert.equal((await store.keys.list()).length, 2);
});

test('ensureFirstKey › of two processes at once › prints and leaves one key', async () => {
  await using store = disposable(await openStore(database, { create: true }));
  const printed = await Promise.all([1, 2].map(() => ensureFirstKey(options, 8080, store)));
  const [secret = '', ...others] = printed.flatMap((announcement) => announcement.secret ?? []);
  assert.deepEqual(others, []);
  const [text = ''] = /petstore_stag_\w+/.exec(secret) ?? [];
  const key = await store.keys.find(digestApiKey(text));
  const states = (await store.keys.list()).map(({ id, revokedAt }) => [
    id,
    revokedAt !== undefined,
  ]);
  assert.deepEqual(states, [
    [1, false],
    [2, true],
  ]);
  assert.equal(key?.id, 1);
});

test('ensureFirstKey › a store that cannot tell of other processes › prints the key', async () => {
  await using store = disposable(await openStore(database, { create: true }));
  let calls = 0;
  const list = async () => {
    calls += 1;
    if (calls > 1) throw new PetstoreError('unavailable', 'away');
    return store.keys.list();
  };
  const keys = { ...store.keys, list };
  const { secret } = await ensureFirstKey(options, 8080, { ...store, keys });
  assert.match(secret ?? '', /petstore_stag_/);
});
