/** What src/store.ts promises of `check`, `backup` and `close` of the store, and opening it again, on every engine. */

import assert from 'node:assert/strict';
import fs, { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { mock } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { OpenOptions } from '../../../src/storage/engine.ts';
import { copyStore, fillStore, openStore } from '../../../src/storage/open.ts';
import { newPet } from '../../arbitraries.ts';
import { PATIENT } from '../../support/postgres.ts';
import { nextPoll, until } from '../../support/until.ts';
import { addOnce, createNewKey, fail, listAll, REQUEST, REX, repeat } from './data.ts';
import {
  refuseBad,
  runBeside,
  testLasting as test,
  testOnFile,
  testOnPostgresql,
} from './engines.ts';

test('store.backup › to a new file › is a store by itself with everything in it', async (store, place) => {
  await store.pets.merge(ReadableStream.from(fc.sample(newPet, 9)));
  const newKey = createNewKey({ expiresAt: 9_000 });
  const { id } = await store.keys.add(newKey);
  await store.keys.touch(id, 6);
  await store.keys.revoke(id, 7);
  const once = await addOnce(store.pets, REX, REQUEST);
  const file = join(place.folder, 'backup.db');
  await store.backup(file);
  const copies = (await readdir(place.folder)).filter((name) => name.startsWith('backup'));
  assert.deepEqual(copies, ['backup.db']);
  {
    using copy = new DatabaseSync(file, { readOnly: true });
    const mode = copy.prepare('pragma journal_mode').get();
    assert.deepEqual({ ...mode }, { journal_mode: 'delete' });
  }
  const atBackup = { pets: await listAll(store), keys: await store.keys.list() };
  await store.pets.add(REX);

  await using copy = await openStore(`sqlite:${file}`, { create: false });
  assert.deepEqual({ pets: await listAll(copy), keys: await copy.keys.list() }, atBackup);
  assert.deepEqual(await addOnce(copy.pets, REX, REQUEST), once);
  assert.equal((await copy.pets.add(REX)).id, 11n);
  assert.deepEqual(await copy.keys.find(newKey.digest), atBackup.keys[0]);
});

testOnFile(
  'store.backup › to a folder that cannot be synced › is on the disk before it has its name',
  async (store, place) => {
    const file = join(place.folder, 'backup.db');
    await using folder = await open(place.folder);
    const handles = Object.getPrototypeOf(folder);
    const { sync } = handles;
    const synced: (readonly [what: string, hasName: boolean])[] = [];
    const ofFile = mock.method(handles, 'sync', async function (this: FileHandle) {
      synced.push(['file', existsSync(file)]);
      // As on Windows, it fails unless the file is open for writing.
      await this.truncate((await this.stat()).size);
      await sync.call(this);
    });
    const opened: number[] = [];
    const ofFolder = mock.method(fs, 'fsyncSync', (handle: number) => {
      opened.push(handle);
      synced.push(['folder', existsSync(file)]);
      throw Object.assign(new Error('EINVAL: fsync'), { code: 'EINVAL' });
    });
    const closed = mock.method(fs, 'closeSync');
    syncBuiltinESMExports();
    await store.backup(file).finally(() => {
      for (const each of [ofFile, ofFolder, closed]) each.mock.restore();
      syncBuiltinESMExports();
    });
    assert.deepEqual(synced, [
      ['file', false],
      ['folder', true],
    ]);
    assert.equal(closed.mock.calls.at(-1)?.arguments[0], opened[0]);
    await (await openStore(`sqlite:${file}`, { create: false })).close();
  },
);

testOnPostgresql(
  'store.backup › to a file that is damaged before it is checked › fails and leaves none',
  async (store, place) => {
    const file = join(place.folder, 'backup.db');
    const { close } = DatabaseSync.prototype;
    const mocked = mock.method(DatabaseSync.prototype, 'close', function (this: DatabaseSync) {
      const partial = this.location() ?? '';
      close.call(this);
      writeFileSync(partial, readFileSync(partial).fill(0xff, 3 * 4_096));
    });
    await assert.rejects(
      store.backup(file).finally(() => mocked.mock.restore()),
      {
        ...{ name: 'PetstoreError', code: 'unavailable' },
        message: `the database ${file} is damaged: move all its files away, then restore a backup`,
      },
    );
    const left = (await readdir(place.folder)).filter((name) => name.startsWith('backup'));
    assert.deepEqual(left, []);
  },
);

test('store.close › then read again › fails, also what was cached', async (_store, place) => {
  const { pets, close } = await openStore(place.address, { create: true, ...PATIENT });
  const { id } = await pets.add(REX);
  const read = () => Promise.allSettled([pets.find(id), pets.listAsJson({ limit: 1 })]);
  await read();
  await close();
  await nextPoll();
  const settled = await read();
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
});

test('store.check › without a table › rejects, until it is back', async (store, place) => {
  for (const table of ['pets', 'api_keys']) {
    await runBeside(place.address, `alter table ${table} rename to elsewhere`);
    await assert.rejects(store.check(), / lacks a table or column /);
    await runBeside(place.address, `alter table elsewhere rename to ${table}`);
    await store.check();
  }
});

test('store › opened again › has what was there and uses no id twice', async (store, place) => {
  const first = await store.pets.add(REX);
  await assert.rejects(store.pets.merge(fail(10)));
  const key = await store.keys.add(createNewKey());
  const again = await place.openAgain();
  assert.deepEqual(await listAll(again), [first]);
  assert.deepEqual(await again.keys.list(), [key]);
  const more = [await again.pets.add(REX), await store.pets.add(REX)];
  assert.ok(more.every(({ id }) => id > first.id));
  assert.notEqual(more[0]?.id, more[1]?.id);
});

test('store.close › with writes under way › ends each, and keeps what was acknowledged', async (store, place) => {
  const closed = await openStore(place.address, {
    create: false,
    databaseConnections: 1,
    ...PATIENT,
  });
  await closed.pets.add(REX);
  const adding = Array.from({ length: 50 }, (_, index) =>
    index % 2 === 0
      ? closed.pets.add(REX)
      : addOnce(closed.pets, REX, { ...REQUEST, key: String(index) }),
  );
  const settling = Promise.allSettled(adding);
  await new Promise(setImmediate);
  await closed.close();
  const kept = new Set((await listAll(store)).map(({ id }) => id));
  const settled = await settling;
  // On PostgreSQL those that wait for the connection may fail; what it is used for does not.
  assert.ok(settled.some(({ status }) => status === 'fulfilled'));
  for (const one of settled) {
    if (one.status === 'fulfilled') assert.ok(kept.has(one.value.id));
    else assert.equal(one.reason.code, 'unavailable');
  }
});

test('store › used and refused more often than it has connections › gives back each, and works on', async (_store, {
  address,
  folder,
}) => {
  const open = (options: OpenOptions) => openStore(address, { ...options, ...PATIENT });
  await using store = await open({ databaseConnections: 1 });
  const { pets, keys } = store;
  const newKey = createNewKey();
  const { id } = await keys.add(newKey);
  await refuseBad(address);
  const bad = { ...REX, name: 'bad' };
  const there = join(folder, 'backup.db');
  writeFileSync(there, '');
  const file = join(folder, 'new.db');
  const copy = `sqlite:${file}`;
  const one = () => ReadableStream.from([REX]);
  const DONE: readonly (() => Promise<unknown>)[] = [
    () => pets.add(REX),
    () => pets.merge(repeat(2)),
    () => pets.merge(repeat(2), { dryRun: true }),
    () => store.backup(file).finally(() => rmSync(file)),
    () => fillStore(copy, false, (filled) => filled.pets.merge(one())).then(() => rmSync(file)),
    async () => (await open({ isServed: true })).close(),
  ];
  const REFUSED: readonly (() => Promise<unknown>)[] = [
    () => pets.add(bad),
    () => pets.addOnce(bad, REQUEST),
    () => pets.merge(fail(2)),
    () => pets.merge(ReadableStream.from([bad])),
    () => keys.rotate(id, { ...newKey, name: 'digest of another' }, 9),
    () => store.backup(there),
    () => fillStore(copy, false, (filled) => filled.pets.merge(fail(2))),
    () => open({ environment: 'production' }),
    () => copyStore(address, copy, { onPets: () => assert.fail('enough') }),
  ];
  const useAll = async () => {
    for (const work of DONE) await work();
    for (const work of REFUSED) await assert.rejects(work);
  };
  const listTaken = () => [
    ...process.eventNames().map((name) => process.listenerCount(name)),
    ...readdirSync(folder).filter((name) => /backup|new/.test(name)),
    ...process.getActiveResourcesInfo().filter((name) => name === 'MessagePort'),
  ];
  const countFiles = () => readdirSync('/dev/fd').length;
  // The first time opens the connections.
  await useAll();
  const [before, files] = [listTaken(), countFiles()];
  for (let count = 0; count < 3; count += 1) await useAll();
  const isGivenBack = () => isDeepStrictEqual(listTaken(), before) && countFiles() <= files;
  await until(isGivenBack, 30_000).catch(() => undefined);
  assert.deepEqual(listTaken(), before);
  // Another test of this process may have closed its files meanwhile.
  assert.ok(countFiles() <= files, `${countFiles()} files are open, ${files} before`);
  assert.equal(store.countConnections?.().used ?? 0, 0);
  const { id: lastId } = await addOnce(pets, REX, REQUEST);
  assert.equal((await keys.rotate(id, createNewKey(), 9)).rotatedAt, undefined);
  assert.equal((await listAll(store)).at(-1)?.id, lastId);
});
