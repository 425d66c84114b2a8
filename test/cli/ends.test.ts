/** How each command that writes ends: done, not done, or not known. What it tells then is followed to the letter. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/storage/open.ts';
import { createNewKey, repeat } from '../storage/contract/data.ts';
import { runCommand } from '../support/command.ts';
import { createOlderStore } from '../support/older-store.ts';
import { createTestDatabase, endSessions, NO_SESSIONS } from '../support/postgres.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import { runProgram, signalAt, startProgram } from '../support/program.ts';
import { startProxy } from '../support/proxy.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';

/** A command, what it tells to look for if its end is not known, and what is seen then: if it was done, and if not. */
const COMMANDS: readonly (readonly [string, look: string, ifDone: RegExp, ifNot: RegExp])[] = [
  ['pets import new.csv', 'pets list --after 2', /^4 +Zoë/m, /No pets/],
  ['pets import old.csv --update', 'pets import old.csv --update --dry-run', /0 corr/, /1 corr/],
  [
    'copy --from sqlite:from.db --to STORE',
    'copy --from sqlite:from.db --to STORE',
    /is not empty/,
    /copied 2/,
  ],
  ['pets add --name Mia --category-id 1', 'pets export', /Mia/, /^((?!Mia).)*$/s],
  ['pets update 1 --name Mia', 'pets get 1', /Mia/, /Rex 0/],
  ['pets remove 1', 'pets remove 1 --dry-run', /there is no pet 1\n/, /would be removed: 1 pet/],
  ['keys create --name new', 'keys list', /new/, /^((?!new).)*$/s],
  ['keys rotate 1', 'keys list', /^[2-9] +ci/m, /^1 +ci.*\n(?![2-9])/m],
  ['keys revoke 1', 'keys list', /revoked/, /active/],
  ['migrate', 'migrate --dry-run', /there is nothing to migrate/, /Would migrate/],
];
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const NOT_KNOWN = /it is not known whether anything was \w+: in the same store, (.+)\n$/;

const TABLES = ['pets', 'api_keys', 'petstore_schema'];
/** From now on commits wait until the table `held` is empty. */
const HOLD = `create table held as select 1;
  create function hold() returns trigger language plpgsql as $$ begin
    while exists (select from held) loop perform pg_sleep(0.01); end loop;
    return null;
  end $$;
  ${TABLES.map(
    (table) => `create constraint trigger hold after insert or update or delete on ${table}
      deferrable initially deferred for each row execute function hold();`,
  ).join('')}`;

/** Makes the store of a command, which a copy needs empty, and a folder with its files. */
async function prepare(command: string, address: string): Promise<string> {
  const cwd = createProcessFolder();
  writeFileSync(join(cwd, 'new.csv'), 'name,categoryId\nMia,1\nZoë,2\n');
  writeFileSync(join(cwd, 'old.csv'), 'id,name,categoryId,status\n1,Tom,1,\n');
  if (command === 'migrate') await createOlderStore(address);
  else {
    const [filled, empty = filled] = command.startsWith('copy')
      ? [`sqlite:${cwd}/from.db`, address]
      : [address];
    await (await openStore(empty, { create: true })).close();
    await using store = await openStore(filled, { create: true });
    await store.pets.merge(repeat(2));
    await store.keys.add(createNewKey());
  }
  return cwd;
}

const toArgs = (command: string, address: string) => command.replace('STORE', address).split(' ');

async function see(command: string, cwd: string, address: string): Promise<string> {
  const options = { cwd, env: { PETSTORE_DATABASE: address } };
  const { stdout, stderr } = await runCommand(toArgs(command, address), options);
  return stdout + stderr;
}

/** Ends a command while its commit waits, lets the commit go on, and looks. */
async function endOnPostgres(command: string, end: string, signal: string, look: string) {
  await using database = await createTestDatabase();
  const { address } = database;
  const cwd = await prepare(command, address);
  await queryOnce(address, HOLD);
  await using proxy = await startProxy(address);
  const env = { PETSTORE_DATABASE: proxy.address };
  await using program = startProgram(toArgs(command, proxy.address), { cwd, env });
  const count = async (what: string) => {
    const sql = `select from pg_stat_activity where datname = current_database() and ${what}`;
    return (await queryOnce(address, sql)).rowCount;
  };
  await until(async () => (await count("wait_event = 'PgSleep'")) === 1);
  if (end === 'its session is ended') await endSessions(address);
  else if (end === 'its connection is cut') proxy.cut();
  else program.process.kill(signal as NodeJS.Signals);
  // The others end without an answer. A migration tries again by itself.
  if (end === 'a signal comes' || command === 'migrate') await sleep(200);
  else await within(program.finished);
  await queryOnce(address, 'delete from held');
  const finished = await within(program.finished);
  await until(async () => (await count("application_name = 'petstore'")) === 0);
  return { ...finished, seen: await see(look, cwd, address) };
}

describe('commands on postgresql', { skip: NO_SESSIONS, concurrency: 4 }, () => {
  for (const [index, [command, look, ifDone, ifNot]] of COMMANDS.entries()) {
    const signal = SIGNALS[index % 3] ?? '';
    const phrase = look.startsWith(command) ? 'the same command' : look.replace(/ 1$/, '');
    const isRetried = command === 'migrate';
    for (const [end, status, seen] of [
      ['a signal comes', 0, ifDone],
      ['its connection is cut', 1, ifDone],
      ['its session is ended', 1, ifNot],
      ['a signal comes, and no answer', null, ifDone],
    ] as const) {
      // A statement of another command waits for 5 s.
      if (status === null && !/^(?:pets import|pets remove|copy)/.test(command)) continue;
      test(`${command} on postgresql › ${end} (${signal}) while it commits › says what is known`, async () => {
        const finished = await endOnPostgres(command, end, signal, look);
        const isKnown = isRetried || status === 0;
        const told = NOT_KNOWN.exec(finished.stderr)?.[1];
        const expected = isKnown ? [0, undefined] : [status, true];
        assert.deepEqual([finished.status, told?.includes(phrase)], expected, finished.stderr);
        assert.match(finished.seen, isRetried ? ifDone : seen);
      });
    }
  }
});

describe('commands on sqlite', { concurrency: 4 }, () => {
  for (const [index, [command, look, ifDone, ifNot]] of COMMANDS.entries()) {
    const signal = SIGNALS[index % 3] ?? 'SIGINT';
    test(`${command} on sqlite › a full disk, then ${signal} › says what is known`, async () => {
      const file = join(createProcessFolder(), 'store.db');
      const address = `sqlite:${file}`;
      const cwd = await prepare(command, address);
      const options = { cwd, env: { PETSTORE_DATABASE: address } };
      const args = toArgs(command, address);
      const readAll = async () =>
        (await see('pets list', cwd, address)) + (await see('keys list', cwd, address));
      const before = await readAll();
      // No log can get longer than the one that is there.
      using other = new DatabaseSync(file);
      other.exec('pragma journal_mode = wal');
      for (let count = 0; count < 9; count += 1) other.exec('create table t (a); drop table t');
      const limited = ['sh', '-c', 'ulimit -f 64; exec "$0" "$@"'];
      const full = await runProgram(args, { ...options, within: limited });
      assert.deepEqual([full.status, NOT_KNOWN.test(full.stderr)], [1, false], full.stderr);
      assert.equal(await readAll(), before);

      const atBegin = { ...options.env, ...signalAt('begin immediate', signal) };
      const { stderr, ...ended } = await runProgram(args, { cwd, env: atBegin });
      const isStopped = ended.signal === signal;
      assert.equal(/^stopped: nothing was \w+\n$/.test(stderr), isStopped, stderr);
      assert.match(await see(look, cwd, address), isStopped ? ifNot : ifDone);
    });
  }
});
