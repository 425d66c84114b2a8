/** What src/store.ts promises of `keys` of the store, on every engine. */

import assert from 'node:assert/strict';
import { getKeyState } from '../../../src/api-key.ts';
import { until } from '../../support/until.ts';
import { createNewKey } from './data.ts';
import { test } from './engines.ts';

const NO_SUCH_KEY = { name: 'PetstoreError', code: 'not_found', message: 'there is no key 99' };

test('keys.add › with and without an expiry › is found by its digest as it was given', async (store) => {
  const { keys } = store;
  const forEver = createNewKey({ name: 'für immer' });
  const limited = createNewKey({
    ...{ environment: 'production', expiresAt: 8.64e15, isReadOnly: true },
  });
  for (const [index, { digest, ...rest }] of [forEver, limited].entries()) {
    const added = await keys.add({ digest, ...rest });
    assert.deepEqual(added, { id: index + 1, ...rest });
    assert.deepEqual(await keys.find(digest), added);
  }
  assert.equal(await keys.find(createNewKey().digest), undefined);
});

test('keys.list › expired and revoked ones too › is all keys by id', async ({ keys }) => {
  assert.deepEqual(await keys.list(), []);
  const expired = await keys.add(createNewKey({ expiresAt: 1 }));
  const revoked = await keys.add(createNewKey());
  const active = await keys.add(createNewKey());
  await keys.revoke(revoked.id, 5);
  assert.deepEqual(await keys.list(), [expired, { ...revoked, revokedAt: 5 }, active]);
});

test('keys.touch › a key › keeps the time of its last use', async ({ keys }) => {
  const newKey = createNewKey();
  const { id } = await keys.add(newKey);
  const other = await keys.add(createNewKey());
  for (const lastUsedAt of [7, 8]) {
    await keys.touch(id, lastUsedAt);
    assert.equal((await keys.find(newKey.digest))?.lastUsedAt, lastUsedAt);
  }
  assert.deepEqual((await keys.list())[1], other);
});

test('keys.revoke › twice › keeps the first time', async ({ keys }) => {
  const newKey = createNewKey();
  const { id } = await keys.add(newKey);
  await keys.revoke(id, 5);
  await keys.revoke(id, 6);
  assert.equal((await keys.find(newKey.digest))?.revokedAt, 5);
});

test('keys.revoke › an id that no key has › is not_found', async (store) => {
  const key = await store.keys.add(createNewKey());
  await assert.rejects(store.keys.revoke(99, 5), NO_SUCH_KEY);
  assert.deepEqual(await store.keys.list(), [key]);
});

for (const [what, expiresAt, expected] of [
  ['that never expires', undefined, 1_000],
  ['that would expire later', 2_000, 1_000],
  ['that expires sooner by itself', 500, 500],
] as const) {
  test(`keys.rotate › a key ${what} › lets it expire at ${expected}`, async ({ keys }) => {
    const old = await keys.add(createNewKey(expiresAt === undefined ? {} : { expiresAt }));
    const bystander = await keys.add(createNewKey());
    const { digest, ...rest } = createNewKey({ name: 'new', createdAt: 100, expiresAt: 9_000 });
    const added = await keys.rotate(old.id, { digest, ...rest }, 1_000);
    assert.deepEqual(added, { id: 3, ...rest });
    assert.deepEqual(await keys.find(digest), added);
    const rotated = { ...old, expiresAt: expected, rotatedAt: rest.createdAt };
    assert.deepEqual(await keys.list(), [rotated, bystander, added]);
  });
}

test('keys.rotate › a key of any state › succeeds as getKeyState says', async ({ keys }) => {
  const now = 1_000;
  for (const expiresAt of [undefined, now - 1, now, now + 1]) {
    for (const revokedAt of [undefined, now - 1]) {
      const more = expiresAt === undefined ? {} : { expiresAt };
      const { id, ...old } = await keys.add(createNewKey({ createdAt: 1, ...more }));
      if (revokedAt !== undefined) await keys.revoke(id, revokedAt);
      const state = getKeyState({ ...old, ...(revokedAt && { revokedAt }) }, now);
      const rotated = await keys.rotate(id, createNewKey({ createdAt: now }), now).then(
        () => true,
        ({ code }) => code !== 'not_found',
      );
      assert.equal(rotated, state === 'active', `${state} ${expiresAt} ${revokedAt}`);
    }
  }
});

test('keys.rotate › a key that is not there, revoked or rotated › is not_found and adds nothing', async (store) => {
  const { keys } = store;
  await keys.add(createNewKey());
  // The key opens for long after.
  await keys.rotate(1, createNewKey(), 2 * createNewKey().createdAt);
  const { id: revoked } = await keys.add(createNewKey());
  await keys.revoke(revoked, 5);
  const before = await keys.list();
  for (const id of [99, 1, revoked]) {
    await assert.rejects(keys.rotate(id, createNewKey(), 500), {
      ...{ name: 'PetstoreError', code: 'not_found' },
      message: `key ${id} cannot be rotated: it must be an active key that was not rotated before`,
    });
  }
  assert.deepEqual(await keys.list(), before);
});

test('keys.rotate › a new key that the database refuses › leaves the old one as it was', async (store) => {
  const { keys } = store;
  const taken = createNewKey();
  const { id } = await keys.add(createNewKey());
  await keys.add(taken);
  const before = await keys.list();
  // The second one is on the connection of the first, and is as whole.
  for (let times = 0; times < 2; times += 1) {
    await assert.rejects(keys.rotate(id, taken, 1_000), /unique|in use/i);
    assert.deepEqual(await keys.list(), before);
  }
  // The next write begins anew.
  await keys.revoke(id, 5);
});

test('keys › revoked in one › is soon so in the other', async (store, place) => {
  const other = await place.openOther();
  const newKey = createNewKey();
  const { id } = await store.keys.add(newKey);
  assert.equal((await other.keys.find(newKey.digest))?.revokedAt, undefined);
  await store.keys.revoke(id, 5);
  await until(async () => (await other.keys.find(newKey.digest))?.revokedAt === 5);
});
