/** A store with an older layout: every command but `serve` and `migrate` refuses it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LAYOUT } from '../../src/storage/migrations.ts';
import { openStore } from '../../src/storage/open.ts';
import { runBeside } from '../storage/contract/engines.ts';
import { runCommand } from '../support/command.ts';
import { holdInSession } from '../support/empty-database.ts';
import { OLDER_LAYOUT, openOlder } from '../support/older-store.ts';
import { NO_SESSIONS } from '../support/postgres.ts';
import { assertRefused, startProgram } from '../support/program.ts';
import { until, within } from '../support/until.ts';

const PET = '--name Mia --category-id 1';
const STEPS = `from layout ${OLDER_LAYOUT} to ${LAYOUT}`;

async function readLayout(address: string): Promise<number> {
  const isFile = address.startsWith('sqlite');
  const sql = isFile ? 'pragma user_version' : 'select version from petstore_schema';
  const [row] = await runBeside(address, sql);
  return Number(Object.values(Object(row))[0]);
}

test('petstore migrate › a later layout that this release can use › has nothing to do', async () => {
  await using older = await openOlder('postgresql');
  await runCommand(['migrate'], older);
  await runBeside(older.address, `update petstore_schema set version = ${LAYOUT + 1}`);
  const { status, stderr } = await runCommand(['migrate'], older);
  assert.equal(status, 0);
  assert.match(stderr, new RegExp(`^The layout is ${LAYOUT + 1}: there is nothing to migrate.\n`));
});

test('petstore migrate › Ctrl-C while a table is locked › ends at once, and nothing was done', {
  skip: NO_SESSIONS,
}, async () => {
  await using older = await openOlder('postgresql');
  await using _other = await holdInSession(older, 'lock table petstore_schema in share mode');
  await using migrating = startProgram(['migrate'], older);
  await until(() => migrating.output.stderr.includes('trying again'));
  migrating.process.kill('SIGINT');
  const { signal, stderr } = await within(migrating.finished);
  assert.equal(signal, 'SIGINT');
  assert.match(stderr, /\nstopped: nothing was done\n$/);
});

test('petstore migrate › a table that is locked › waits, and says so', {
  skip: NO_SESSIONS,
}, async () => {
  await using older = await openOlder('postgresql');
  await using other = await holdInSession(older, 'lock table petstore_schema in share mode');
  await using migrating = startProgram(['migrate'], older);
  const told = /^the database is locked by another process; trying again for (?:60|5\d) s\n/;
  await until(() => migrating.output.stderr.endsWith('\n'));
  assert.match(migrating.output.stderr, told);
  await other.end('rollback');
  const { status, stderr } = await within(migrating.finished);
  assert.equal(status, 0);
  assert.ok(stderr.replace(told, '').startsWith(`Migrated ${STEPS}.\n`), stderr);
});

for (const kind of ['sqlite', 'postgresql'] as const) {
  test(`an older layout on ${kind} › commands › refuse it in one line, and leave it`, async () => {
    await using older = await openOlder(kind);
    const { address, name } = older;
    await runCommand(`pets add ${PET} --database sqlite:new.db`.split(' '), older);
    const line = `${name} is of an older petstore: its layout is ${OLDER_LAYOUT}, this program needs ${LAYOUT}: back it up with the older release, then run petstore migrate`;
    const copied = '; nothing was copied';
    for (const [command, outcome = '', side = ''] of [
      ['backup backup.db'],
      [`copy --from ${address} --to sqlite:to.db`, copied, 'the store to copy from: '],
      [`copy --from sqlite:new.db --to ${address}`, copied, 'the store to copy to: '],
      ['keys list'],
      ['keys create --name ci'],
      ['pets export'],
      ['pets import - --format csv', '; nothing was imported'],
    ] as const) {
      const finished = await runCommand(command.split(' '), older);
      assertRefused(finished, 1, side + line + outcome);
    }
    assert.equal(await readLayout(older.address), OLDER_LAYOUT);
  });

  test(`petstore migrate on ${kind} › first --dry-run, then twice › says what it does`, async () => {
    await using older = await openOlder(kind);
    for (const [args, line, layout] of [
      [['--dry-run'], `Would migrate ${STEPS}. Nothing is changed.`, OLDER_LAYOUT],
      [[], `Migrated ${STEPS}.`, LAYOUT],
      [[], `The layout is ${LAYOUT}: there is nothing to migrate.`, LAYOUT],
    ] as const) {
      const { status, stdout, stderr } = await runCommand(['migrate', ...args], older);
      const [said, where] = stderr.split('\n');
      assert.deepEqual([status, stdout, said], [0, '', line]);
      assert.match(where ?? '', /^Store: /);
      assert.equal(await readLayout(older.address), layout);
    }
    const { stdout } = await runCommand(['pets', 'get', '1', '--json'], older);
    assert.equal(stdout, '{"id":1,"name":"Rex","categoryId":1,"status":"sold"}\n');
  });

  test(`an older layout on ${kind} › opened to migrate it, for the other environment › is refused, and left`, async () => {
    await using older = await openOlder(kind);
    const options = { olderLayout: 'migrate', environment: 'production' } as const;
    const message = /^the store \S+ is of staging, not of production: .*$/;
    await assert.rejects(openStore(older.address, options), { code: 'bad_request', message });
    assert.equal(await readLayout(older.address), OLDER_LAYOUT);
  });
}
