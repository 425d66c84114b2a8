/** How each command that writes ends: done, not done, or not known. What it tells then is followed to the letter. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { createProgram } from '../../src/cli/run.ts';
import { listCommands } from '../support/command.ts';
import { runProgram, signalAt, startProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';
import { ENDS, FILES, getSignal, prepare, type Row, see, toArgs, WRITES } from './command-ends.ts';
import { testOnPostgres } from './ends-on-postgres.ts';

/** One of each way to the end of a command; the suite `outages` has all commands. */
const ON_POSTGRES = /^(?:pets import new\.csv$|keys create .*new store$|backup --keep)/;
const ON_SQLITE = /^(?:pets import new\.csv$|keys create .*new store$|copy .*new store$|migrate)/;

test('the table of ends › has each command', () => {
  assert.deepEqual(listCommands(createProgram()).sort(), Object.keys(ENDS).sort());
});

test('pets generate › a signal comes while it prints › ends it', async () => {
  const cwd = createProcessFolder();
  await using program = startProgram(['pets', 'generate', '--count', '1000000000'], { cwd });
  await until(() => program.output.stdout !== '');
  program.process.kill('SIGINT');
  const { signal, stderr } = await within(program.finished);
  assert.deepEqual([signal, stderr], ['SIGINT', '']);
});

testOnPostgres([...WRITES, ...FILES].filter(({ title }) => ON_POSTGRES.test(title)));

describe('commands on sqlite', { concurrency: 4 }, () => {
  /** Makes the store of a command in a file, and what runs commands on it. */
  async function open(row: Row) {
    const file = join(createProcessFolder(), 'store.db');
    const address = `sqlite:${file}`;
    const cwd = await prepare(row, address);
    const options = { cwd, env: { PETSTORE_DATABASE: address } };
    const look = (command: string) => see(command, cwd, address);
    return { file, options, args: toArgs(row.command, address), look };
  }

  for (const [index, row] of WRITES.filter(({ title }) => ON_SQLITE.test(title)).entries()) {
    const signal = getSignal(index);
    test(`${row.title} on sqlite › the disk is full › says that nothing was done`, async () => {
      const { file, options, args, look } = await open(row);
      const readAll = async () => (await look('pets list')) + (await look('keys list'));
      const before = await readAll();
      // No log can get longer than the one that is there.
      using other = new DatabaseSync(row.store === 'none' ? ':memory:' : file);
      other.exec('pragma journal_mode = wal');
      for (let count = 0; count < 9; count += 1) other.exec('create table t (a); drop table t');
      const limited = ['sh', '-c', 'ulimit -f 64; exec "$0" "$@"'];
      const full = await runProgram(args, { ...options, within: limited });
      const hasVerb = /^(?:pets import|copy)/.test(row.command);
      const told = hasVerb ? /; nothing was \w+\n$/ : /^petstore: [^;]+\n$/;
      assert.deepEqual([full.status, told.test(full.stderr)], [1, true], full.stderr);
      assert.equal(await readAll(), before);
    });

    test(`${row.title} on sqlite › ${signal} comes while it writes › says what is known`, async () => {
      const { options, args, look } = await open(row);
      const env = { ...options.env, ...signalAt('begin immediate', signal) };
      const { stderr, ...ended } = await runProgram(args, { ...options, env });
      const isNotDone = /^stopped: nothing was \w+\n$/.test(stderr);
      assert.deepEqual(
        [ended.status, ended.signal],
        isNotDone ? [null, signal] : [0, null],
        stderr,
      );
      assert.match(await look(row.look), isNotDone ? row.ifNot : row.ifDone);
    });
  }
});
