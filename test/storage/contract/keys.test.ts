/** What src/store.ts promises of `keys` of the store, on every engine. */

import assert from 'node:assert/strict';
import { getKeyState } from '../../../src/api-key.ts';
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

test('keys.list › keys that expired, were used and revoked, each twice › has each with its last use and first end', async ({
  keys,
}) => {
  assert.deepEqual(await keys.list(), []);
  const expired = await keys.add(createNewKey({ expiresAt: 1 }));
  const newKey = createNewKey();
  const used = await keys.add(newKey);
  const active = await keys.add(createNewKey());
  for (const at of [7, 8]) await keys.touch(used.id, at);
  for (const at of [5, 6]) await keys.revoke(used.id, at);
  await assert.rejects(keys.revoke(99, 5), NO_SUCH_KEY);
  const revoked = { ...used, lastUsedAt: 8, revokedAt: 5 };
  assert.deepEqual(await keys.list(), [expired, revoked, active]);
  assert.deepEqual(await keys.find(newKey.digest), revoked);
});

test('keys.rotate › keys that expire never, later and sooner › lets each expire at the given time, or sooner by itself', async ({
  keys,
}) => {
  for (const [more, expected] of [
    [{}, 1_000],
    [{ expiresAt: 2_000 }, 1_000],
    [{ expiresAt: 500 }, 500],
  ] as const) {
    const old = await keys.add(createNewKey(more));
    const bystander = await keys.add(createNewKey());
    const { digest, ...rest } = createNewKey({ name: 'new', createdAt: 100, expiresAt: 9_000 });
    const added = await keys.rotate(old.id, { digest, ...rest }, 1_000);
    assert.deepEqual(added, { id: old.id + 2, ...rest });
    assert.deepEqual(await keys.find(digest), added);
    const rotated = { ...old, expiresAt: expected, rotatedAt: rest.createdAt };
    assert.deepEqual((await keys.list()).slice(-3), [rotated, bystander, added]);
  }
});

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

test('keys.rotate › a key that is not there, revoked or rotated, or a new one that is there already › changes nothing', async ({
  keys,
}) => {
  await keys.add(createNewKey());
  const taken = createNewKey();
  // The key opens for long after.
  const { id: active } = await keys.rotate(1, taken, 2 * taken.createdAt);
  const { id: revoked } = await keys.add(createNewKey());
  await keys.revoke(revoked, 5);
  const before = await keys.list();
  for (const id of [99, 1, revoked]) {
    await assert.rejects(keys.rotate(id, createNewKey(), 500), {
      ...{ name: 'PetstoreError', code: 'not_found' },
      message: `key ${id} cannot be rotated: it must be an active key that was not rotated before`,
    });
  }
  // The second one is on the connection of the first, and is as whole.
  for (let times = 0; times < 2; times += 1) {
    await assert.rejects(keys.rotate(active, taken, 1_000), /unique|in use/i);
  }
  assert.deepEqual(await keys.list(), before);
  // The next write begins anew.
  await keys.revoke(active, 5);
});
