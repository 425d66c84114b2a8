/** The store of a service: when a start makes a key, when it says how to make one, and what its watch says. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestApiKey } from '../../src/api-key.ts';
import { PetstoreError } from '../../src/error.ts';
import { createLog } from '../../src/service/open-log.ts';
import type { ServeOptions } from '../../src/service/serve-options.ts';
import { ensureFirstKey, requireKey, watchStore } from '../../src/service/served-store.ts';
import { openStore } from '../../src/storage/open.ts';
import { createNewKey } from '../storage/contract/data.ts';
import { within } from '../support/until.ts';

const database = 'sqlite::memory:';
const options = { environment: 'staging', database } as ServeOptions;

/** A log, and the messages of its warnings so far. */
function openWarnings() {
  const warnings: string[] = [];
  return { warnings, log: createLog('warn', (line) => warnings.push(JSON.parse(line).msg)) };
}

test('ensureFirstKey › a key has expired, the other is revoked › says how to make one, and makes none', async (t) => {
  await using store = await openStore(database, { create: true });
  await store.keys.add(createNewKey({ expiresAt: 1 }));
  await store.keys.add(createNewKey());
  await store.keys.revoke(2, 1);
  t.mock.property(process, 'argv', ['node', '/usr/local/bin/petstore']);
  const { warnings, log } = openWarnings();
  const create = 'petstore keys create --name NAME --environment staging';
  // A shell takes each of these commands as it is.
  for (const [address, command] of [
    ["sqlite:/Rex's pet's.db", String.raw`${create} --database 'sqlite:/Rex'\''s pet'\''s.db'`],
    ['postgres://petstore:s3cr3t@db.test/shop', `PETSTORE_DATABASE=ADDRESS ${create}`],
  ] as const) {
    assert.equal(await ensureFirstKey({ ...options, database: address }, store, log), undefined);
    assert.equal(warnings.pop(), `no staging key is active; to make one: ${command}`);
  }
  assert.deepEqual(warnings, []);
  assert.equal((await store.keys.list()).length, 2);
});

test('ensureFirstKey › of two processes at once › prints and leaves one key', async () => {
  await using store = await openStore(database, { create: true });
  const { log } = openWarnings();
  const printed = await Promise.all([1, 2].map(() => ensureFirstKey(options, store, log)));
  const [text = '', ...others] = printed.filter((key) => key !== undefined);
  assert.deepEqual(others, []);
  assert.equal((await store.keys.find(digestApiKey(text)))?.id, 1);
  const active = (await store.keys.list()).filter(({ revokedAt }) => revokedAt === undefined);
  assert.deepEqual(
    active.map(({ id }) => id),
    [1],
  );
});

for (const [what, awayAt, seconds, isPrinted] of [
  ['cannot tell of other processes', 2, 0, true],
  ['is away for 59 s, with --start-timeout 60', 1, 59, true],
  ['is away for 61 s, with --start-timeout 60', 1, 61, false],
] as const) {
  test(`ensureFirstKey › a store that ${what} › ${isPrinted ? 'prints the key' : 'fails'}`, async (t) => {
    await using store = await openStore(database, { create: true });
    let now = Date.now();
    t.mock.method(Date, 'now', () => now);
    let calls = 0;
    const list = async () => {
      calls += 1;
      if (calls !== awayAt) return store.keys.list();
      now += seconds * 1_000;
      throw new PetstoreError('unavailable', 'away');
    };
    const waiting = { ...options, startTimeout: 60 };
    const keys = { ...store.keys, list };
    const printing = ensureFirstKey(waiting, { ...store, keys }, openWarnings().log);
    if (isPrinted) assert.match((await printing) ?? '', /^petstore_stag_/);
    else await assert.rejects(printing, { code: 'unavailable' });
  });
}

test('requireKey › no key, a key of staging, a key, a revoked key › only a store without a key of production is not ready', async () => {
  await using store = await openStore(database, { create: true });
  await requireKey(store, options).check();
  const production = { ...options, environment: 'production' } as const;
  const { check } = requireKey(store, production);
  for (const environment of ['staging', 'production'] as const) {
    await assert.rejects(check(), /^PetstoreError: the store has no production key$/);
    await store.keys.add(createNewKey({ environment }));
  }
  await check();
  await store.keys.revoke(2, 1);
  await check();
  // A start after this finds the revoked key alone.
  await requireKey(store, production).check();
});

/** Resolves when the service stops: before the last answer is given. */
async function watch(answers: string[]): Promise<string[]> {
  const connections = { used: 0, idle: 0, waiting: 0, broken: 0 };
  const store = {
    countConnections: () => connections,
    async check() {
      const answer = answers.shift();
      if (answer !== 'here') throw new PetstoreError('unavailable', `it is ${answer}`);
    },
  };
  const { warnings, log } = openWarnings();
  await within(watchStore(store, log.warn, () => answers.length === 0, 1));
  return warnings;
}

test('watchStore › the database is away twice, once by two causes › says each cause once, and each time that it is back', async () => {
  const first = ['away', 'away', 'read-only', 'read-only', 'here', 'here'];
  const lines = await watch([...first, 'away', 'here', 'here', 'here']);
  const [away, readOnly] = ['away', 'read-only'].map(
    (cause) => `it is ${cause}; requests may be 503 until it is back`,
  );
  const back = 'the database is back';
  assert.deepEqual(lines, [away, readOnly, back, away, back]);
});
