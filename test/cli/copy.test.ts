/** `petstore copy`: its output, its exit status, and the keys that it takes along; and the environment of a store, which it can split. */

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { ENVIRONMENTS, type Environment } from '../../src/api-key.ts';
import { describeAddress } from '../../src/storage/address.ts';
import { openStore } from '../../src/storage/open.ts';
import { createNewKey, repeat } from '../storage/contract/data.ts';
import { runBeside, testLasting } from '../storage/contract/engines.ts';
import { runCommand } from '../support/command.ts';
import { createTestDatabase, NO_SESSIONS } from '../support/postgres.ts';
import { assertRefused, type Finished } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const DONE =
  /^copied 1 pet\nWith 1 key\. Each row was read back, and is the same\.\nFrom \S+ to \S+\.\n$/;

test('copy › to PostgreSQL by flags and back by variables › is the same store', async () => {
  const cwd = createProcessFolder();
  await using database = await createTestDatabase();
  const url = new URL(database.address);
  url.password ||= 's3cr3t';
  {
    await using store = await openStore(`sqlite:${cwd}/first.db`, { create: true });
    await store.pets.merge(repeat(1));
    await store.keys.add(createNewKey());
  }
  const run = async (args: readonly string[], env = {}): Promise<Finished> => {
    const finished = await runCommand(args, { cwd, env });
    assert.ok(!`${finished.stdout}${finished.stderr}`.includes(url.password));
    return finished;
  };

  const copy = ['copy', '--from', 'sqlite:first.db', '--to', url.href];
  const there = await run(copy);
  const back = await run(['copy'], { PETSTORE_FROM: url.href, PETSTORE_TO: 'sqlite:last.db' });
  for (const { status, stdout, stderr } of [there, back]) {
    assert.deepEqual([status, stdout], [0, '']);
    assert.match(stderr, DONE);
  }
  const shown = `postgres://${url.host}${url.pathname}`;
  assert.ok(there.stderr.endsWith(`\nFrom sqlite:${cwd}/first.db to ${shown}.\n`));
  const { stdout } = await run(['pets', 'list', '--json', '--database', 'sqlite:last.db']);
  assert.equal(stdout, '[{"id":1,"name":"Rex 0","categoryId":1}]\n');

  const line = 'the store to copy to is not empty: name an empty one; nothing was copied';
  assertRefused(await run(copy), 1, line);
});

for (const broken of ['from', 'to'] as const) {
  test(`copy › between two of PostgreSQL, of which --${broken} cannot be used › names this one`, {
    skip: NO_SESSIONS,
  }, async () => {
    await using from = await createTestDatabase();
    await using to = await createTestDatabase();
    const addresses = { from: from.address, to: to.address };
    const cwd = createProcessFolder();
    const copy = () =>
      runCommand(['copy', '--from', addresses.from, '--to', addresses.to], { cwd });
    for (const address of Object.values(addresses)) {
      await (await openStore(address, { create: true })).close();
    }
    const named = `the store to copy ${broken}: the database`;
    await runBeside(addresses[broken], 'drop sequence pets_id');
    const lacks = 'lacks a table or column that this program needs: restore it from a backup';
    assertRefused(await copy(), 1, `${named} ${lacks}; nothing was copied`);
  });
}

test('copy › a store that is not there › exits with 1 and one line, and makes none', async () => {
  const cwd = createProcessFolder();
  const args = ['copy', '--from', 'sqlite:missing.db', '--to', 'sqlite:no.db'];
  const line = 'the store to copy from: there is no database missing.db; nothing was copied';
  assertRefused(await runCommand(args, { cwd }), 1, line);
  assert.deepEqual(await readdir(cwd), []);
});

/** A folder whose store has a key of each of the environments. */
async function createFolder(environments: readonly Environment[]): Promise<string> {
  const cwd = createProcessFolder();
  await using store = await openStore(`sqlite:${cwd}/petstore.db`, { create: true });
  for (const environment of environments) await store.keys.add(createNewKey({ environment }));
  return cwd;
}

const COPY = ['copy', '--from', 'sqlite:petstore.db', '--to'];

test('copy --environment › a store with keys of both › leaves some out, which the variable of serve does not', async () => {
  const cwd = await createFolder(ENVIRONMENTS);
  const env = { PETSTORE_ENVIRONMENT: 'production' };
  const whole = await runCommand([...COPY, 'sqlite:whole.db'], { cwd, env });
  assert.match(whole.stderr, /^With 2 keys\./m);
  const args = ['sqlite:part.db', '--environment', 'production'];
  const part = await runCommand([...COPY, ...args], { cwd });
  // Its last line names the stores: only a store without a key needs a first one.
  assert.match(part.stderr, /\nWith 1 key\. .+\nFrom .+\/part\.db\.\n$/);
  await using store = await openStore(`sqlite:${cwd}/part.db`, { create: false });
  assert.deepEqual(
    (await store.keys.list()).map(({ environment }) => environment),
    ['production'],
  );
});

test('copy --environment › a store without such a key › is of that environment with its first key', async () => {
  const cwd = await createFolder(['staging']);
  const args = ['sqlite:new.db', '--environment', 'production'];
  const { stderr } = await runCommand([...COPY, ...args], { cwd });
  assert.match(stderr, /^With 0 keys\./m);
  const command = `keys create --name NAME --environment production --database 'sqlite:${cwd}/new.db'`;
  assert.ok(stderr.endsWith(` ${command}\n`), stderr);
  const createKey = (environment: Environment) =>
    runCommand(
      `keys create --name ci --database sqlite:new.db --environment ${environment}`.split(' '),
      { cwd },
    );
  assert.equal((await createKey('production')).status, 0);
  const line = `the store sqlite:${cwd}/new.db is of production, not of staging: give --environment production, or another --database, which petstore copy --environment staging can make, or revoke its only key (2) if it is wrong`;
  assertRefused(await createKey('staging'), 1, line);
});

testLasting(
  'the environment of a store › of staging › is not opened as production, unless its only key is revoked',
  async ({ keys }, { address }) => {
    const told: string[] = [];
    const open = async (environment: Environment) =>
      (await openStore(address, { environment, warn: (line) => told.push(line) })).close();
    const refuses = (own: Environment, other: Environment, remedy = '') => {
      const message = `the store ${describeAddress(address)} is of ${own}, not of ${other}: give --environment ${own}, or another --database, which petstore copy --environment ${other} can make${remedy}`;
      return assert.rejects(open(other), { code: 'bad_request', message });
    };
    await keys.add(createNewKey({ environment: 'staging' }));
    await refuses('staging', 'production', ', or revoke its only key (1) if it is wrong');
    await keys.revoke(1, 1);
    for (const environment of ENVIRONMENTS) await open(environment);
    await keys.add(createNewKey({ environment: 'production' }));
    await refuses('production', 'staging');
    await keys.revoke(2, 1);
    await refuses('production', 'staging');
    await open('production');
    assert.deepEqual(told, []);
    await keys.add(createNewKey({ environment: 'staging' }));
    for (const environment of ENVIRONMENTS) await open(environment);
    assert.deepEqual(
      told,
      ENVIRONMENTS.map(
        (environment) =>
          `the store has keys of both environments: petstore copy --environment ${environment} makes a store without the other keys`,
      ),
    );
  },
);
