/** How each command that writes ends: done, not done, or not known. What it tells then is followed to the letter. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createProgram } from '../../src/cli/run.ts';
import { listCommands } from '../support/command.ts';
import { runProgram, signalAt, startProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';
import { ENDS, FILES, getSignal, prepare, see, toArgs, WRITES } from './command-ends.ts';
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
  for (const [index, row] of WRITES.filter(({ title }) => ON_SQLITE.test(title)).entries()) {
    const signal = getSignal(index);
    test(`${row.title} on sqlite › ${signal} comes while it writes › says what is known`, async () => {
      const address = `sqlite:${join(createProcessFolder(), 'store.db')}`;
      const cwd = await prepare(row, address);
      const env = { PETSTORE_DATABASE: address, ...signalAt('begin immediate', signal) };
      const { stderr, ...ended } = await runProgram(toArgs(row.command, address), { cwd, env });
      const isNotDone = /^stopped: nothing was \w+\n$/.test(stderr);
      assert.deepEqual(
        [ended.status, ended.signal],
        isNotDone ? [null, signal] : [0, null],
        stderr,
      );
      assert.match(await see(row.look, cwd, address), isNotDone ? row.ifNot : row.ifDone);
    });
  }
});
