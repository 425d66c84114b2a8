/** `petstore keys …`: its output, and what it changes in the store. */

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import { repeat } from '../storage/contract/data.ts';
import { runCommand } from '../support/command.ts';
import { assertRefused, runProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const STAGING_KEY = /^petstore_stag_[0-9A-Za-z]{36}\n$/;
const PRODUCTION_KEY = /^petstore_prod_[0-9A-Za-z]{36}\n$/;
const DAY_MS = 86_400_000;

function getLifetime({ created = '', expires = '' }: Record<string, string> = {}): number {
  return Date.parse(expires) - Date.parse(created);
}

/** A folder whose store has a key with these flags. */
async function createKeyFolder(flags = '') {
  const cwd = createProcessFolder();
  /** Runs `keys …` to its end, which must be this status. */
  const keys = async (line: string, status = 0) => {
    const finished = await runCommand(['keys', ...line.split(' ')], { cwd });
    assert.equal(finished.status, status, finished.stderr);
    return finished;
  };
  return {
    path: cwd,
    keys,
    made: await keys(`create --name ci${flags}`),
    store: `sqlite:${cwd}/petstore.db`,
    list: async (): Promise<Record<string, string>[]> =>
      JSON.parse((await keys('list --json')).stdout),
  };
}

test('keys create › in each environment › prints the key alone, the words elsewhere', async () => {
  const folder = await createKeyFolder();
  const staging = folder.made;
  assert.match(staging.stdout, STAGING_KEY);
  assert.equal(
    staging.stderr,
    `Key 1 (ci) for staging, never expires. It is shown only now.\nNew store: ${folder.store}\n`,
  );
  const shop = await createKeyFolder(' --environment production --expires 90d --read-only');
  const production = shop.made;
  assert.match(production.stdout, PRODUCTION_KEY);
  assert.match(
    production.stderr,
    /^Key 1 \(ci\) for production, read-only, expires at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\. It is shown only now\.\nNew store: sqlite:\S+\n$/,
  );

  const [{ created = '', ...rest } = {}] = await folder.list();
  assert.deepEqual(rest, {
    ...{ id: 1, name: 'ci', environment: 'staging', may: 'read and add', state: 'active' },
    ...{ expires: null, lastUsed: null },
  });
  assert.ok(Math.abs(Date.parse(created) - Date.now()) < 60_000, created);
  const [row] = await shop.list();
  assert.deepEqual([row?.environment, row?.may], ['production', 'read']);
  assert.equal(getLifetime(row), 90 * DAY_MS);
});

test('keys create and rotate › with --json › print the key and its row, which list has', async () => {
  const folder = await createKeyFolder(' --expires 30d --json');
  const rotated = await folder.keys('rotate 1 --json');
  const rows = await folder.list();
  for (const [index, { stdout, stderr }] of [folder.made, rotated].entries()) {
    const { key, ...row } = JSON.parse(stdout);
    assert.match(`${key}\n`, STAGING_KEY);
    assert.equal(stdout.indexOf('\n'), stdout.length - 1);
    assert.match(stderr, /It is shown only now/);
    assert.deepEqual({ ...row, expires: null }, { ...rows[index], expires: null });
    assert.equal(row.id, index + 1);
    assert.equal(getLifetime(row), 30 * DAY_MS);
  }
});

test('keys rotate › twice at once › makes one key, and prints only this key', async () => {
  const folder = await createKeyFolder();
  const args = ['keys', 'rotate', '1', '--json', '--overlap', '0s'];
  const settled = await Promise.all(
    ['first', 'second'].map(() => runCommand(args, { cwd: folder.path })),
  );
  assert.deepEqual(settled.map(({ status }) => status).sort(), [0, 1]);
  assert.equal(JSON.parse(settled.map(({ stdout }) => stdout).join('')).id, 2);
});

test('keys list › a key that was used › has the time of its last use, and not the key', async () => {
  const folder = await createKeyFolder('_of_many_characters');
  await using store = await openStore(folder.store, { create: false });
  await store.keys.touch(1, Date.UTC(2026, 10, 23, 12, 34, 56));
  assert.equal((await folder.list())[0]?.lastUsed, '2026-11-23T12:34:56Z');
  const { stdout, stderr } = await folder.keys('list');
  assert.match(
    stdout,
    /^ID {2}NAME +ENVIRONMENT {2}MAY +STATE +CREATED +EXPIRES {2}LAST USED\n1 +ci_of_many_characters {2}staging +read and add {2}active {2}\d{4}-\S+Z {2}- +2026-11-23T12:34:56Z\n$/,
  );
  assert.equal(stderr, `Store: ${folder.store}\n`);
  assert.ok(!stdout.includes(folder.made.stdout.trim()));
});

test('keys revoke › a key, then again › says so and keeps it as revoked', async () => {
  const folder = await createKeyFolder();
  const stderr = `Key 1 is revoked: every running service refuses it within a second.\nStore: ${folder.store}\n`;
  for (let count = 0; count < 2; count += 1) {
    const finished = await folder.keys('revoke 1');
    assert.deepEqual(finished, { status: 0, signal: null, stdout: '', stderr });
  }
  assert.equal((await folder.list())[0]?.state, 'revoked');
});

for (const [line, shell, why] of [
  ['keys create --name lost', '"$@" > /dev/full', 'ENOSPC: no space left on device, write'],
  ['keys rotate 1 --overlap 0s', 'rm -f p; mkfifo p; exec 3<>p 4>p 3<&-; "$@" >&4', 'write EPIPE'],
] as const) {
  test(`${line} › nowhere to print the key, by ${shell} › fails, and names the key, which can be revoked`, async () => {
    const folder = await createKeyFolder();
    const within = ['bash', '-c', shell, 'bash'];
    const finished = await runProgram(line.split(' '), { cwd: folder.path, within });
    const told = `standard output cannot be written: ${why}; revoke key 2, whose text is lost, and create another`;
    assertRefused(finished, 1, told);
    await folder.keys('revoke 2');
  });
}

test('pets generate and list › to a full disk that cuts their only write short › fail', async () => {
  const folder = await createKeyFolder();
  await using store = await openStore(folder.store, { create: false });
  await store.pets.merge(repeat(1_000));
  const within = ['bash', '-c', 'ulimit -f 4; "$@" > file', 'bash'];
  for (const line of ['pets generate', 'pets list --limit 1000 --json']) {
    const { status, stderr } = await runProgram(line.split(' '), { cwd: folder.path, within });
    assert.equal(status, 1, line);
    assert.match(stderr, /^petstore: EFBIG: file too large, write\n/);
  }
});

test('pets add, get › with standard error on a full disk, or nobody who reads › end with the status of their work', async () => {
  const { path: cwd } = await createKeyFolder();
  for (const [line, shell, status] of [
    ['pets add --name Rex --category-id 1', 'set -o pipefail; "$@" 2>&1 | true', 0],
    ['pets get 1', '"$@" 2> /dev/full', 0],
    ['pets get 2', '"$@" 2> /dev/full', 1],
  ] as const) {
    const within = ['bash', '-c', shell, 'bash'];
    const finished = await runProgram(line.split(' '), { cwd, within });
    assert.equal(finished.status, status, line);
  }
});

test('keys rotate › with and without an overlap › makes a key of the same name and lifetime', async () => {
  const folder = await createKeyFolder(' --expires 30d --read-only');
  using database = new DatabaseSync(join(folder.path, 'petstore.db'));
  const toEarlier = (column: string) => `${column} = ${column} - ${DAY_MS}`;
  database.exec(`update api_keys set ${['created_at', 'expires_at'].map(toEarlier)}`);
  const rotated = await folder.keys('rotate 1');
  assert.match(rotated.stdout, STAGING_KEY);
  assert.match(
    rotated.stderr,
    /^Key 2 \(ci\) for staging, read-only, expires .+\.\nKey 1 works until .+\.\nStore: sqlite:\S+\n$/,
  );
  const [old, made] = await folder.list();
  assert.ok(rotated.stderr.includes(`works until ${old?.expires}.`), rotated.stderr);
  const left = Date.parse(old?.expires ?? '') - Date.now();
  assert.ok(left > DAY_MS - 60_000 && left <= DAY_MS, `${left} ms`);
  assert.deepEqual([made?.name, made?.state], ['ci', 'active']);
  assert.equal(getLifetime(made), 30 * DAY_MS);

  await folder.keys('rotate 2 --overlap 0s');
  const states = (await folder.list()).map(({ state }) => state);
  assert.deepEqual(states, ['active', 'expired', 'active']);
  const longer = await folder.keys('rotate 3 --overlap 60d');
  const [, , third] = await folder.list();
  assert.equal(getLifetime(third), 30 * DAY_MS);
  assert.ok(longer.stderr.includes(`works until ${third?.expires}.`), longer.stderr);
  const line = 'key 2 cannot be rotated: it must be an active key that was not rotated before';
  assertRefused(await folder.keys('rotate 2', 1), 1, line);
});

test('keys › an id that no key has › exits with 1 and one line', async () => {
  const folder = await createKeyFolder();
  for (const command of ['revoke', 'rotate']) {
    assertRefused(await folder.keys(`${command} 7`, 1), 1, 'there is no key 7');
    // The store is closed too.
    assert.deepEqual(await readdir(folder.path), ['petstore.db']);
  }
  assert.equal((await folder.list()).length, 1);
});

test('keys list › no key yet › says how to make one', async () => {
  const cwd = createProcessFolder();
  const address = `sqlite:${cwd}/petstore.db`;
  await (await openStore(address, { create: true })).close();
  const stderr = `There is no key yet. The first key decides the environment of the store: petstore keys create --name NAME --environment ENVIRONMENT\nStore: ${address}\n`;
  const finished = await runCommand(['keys', 'list'], { cwd });
  assert.deepEqual(finished, { status: 0, signal: null, stdout: '', stderr });
});

for (const line of [
  ...['keys list', 'keys revoke 1', 'keys rotate 1', 'pets list', 'pets get 1', 'pets remove 1'],
  ...['pets update 1 --no-status', 'pets export', 'pets export pets.csv', 'backup copy.db'],
  'migrate',
]) {
  test(`${line} › a database that is not there › exits with 1 and makes no file`, async () => {
    const cwd = createProcessFolder();
    const finished = await runCommand(line.split(' '), { cwd });
    assertRefused(finished, 1, 'there is no database petstore.db');
    assert.deepEqual(await readdir(cwd), []);
  });
}
