/** How each command that writes ends: done, not done, or not known. What it tells then is followed to the letter. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Command } from 'commander';
import { createProgram } from '../../src/cli/run.ts';
import { READS, withStore } from '../../src/cli/with-store.ts';
import { PetstoreError } from '../../src/error.ts';
import { openStore } from '../../src/storage/open.ts';
import { listCommands } from '../support/command.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ENDS, FILES, WRITES } from './command-ends.ts';
import { testOnPostgres } from './ends-on-postgres.ts';
import { testOnSqlite } from './ends-on-sqlite.ts';
import { keepStandardError } from './standard-error.ts';

/** One of each way to the end of a command. All commands: on PostgreSQL in the suite `outages`, on SQLite in `crash`. */
const ON_POSTGRES = /^(?:pets import new\.csv$|keys create .*new store$)/;
/** These go the same ways, and tell something else to look for. */
const ALSO_CUT = /^(?:pets import old|pets remove|backup --keep)/;
const ON_SQLITE = /^(?:pets import new\.csv$|keys create .*new store$|copy .*new store$|migrate)/;

test('the table of ends › has each command', () => {
  assert.deepEqual(listCommands(createProgram()).sort(), Object.keys(ENDS).sort());
});

test('pets remove --dry-run › a signal comes › says that nothing was done', async (t) => {
  const { mock } = t.mock.method(process, 'kill', () => true);
  const stderr = keepStandardError(t);
  const act = withStore(async () => {
    process.emit('SIGINT', 'SIGINT');
    await until(() => mock.callCount() > 0);
  }, READS);
  const database = `sqlite:${join(createProcessFolder(), 'store.db')}`;
  await (await openStore(database, { create: true })).close();
  const command = new Command('remove').option('--database <address>').option('--dry-run');
  await command.action(act).parseAsync(['--dry-run', '--database', database], { from: 'user' });
  assert.match(stderr.text, /^stopped: nothing was done\n/);
});

for (const { title, command, told } of WRITES) {
  const [, name = ''] = /^(?:keys |pets )?(\w+)/.exec(command) ?? [];
  // They tell it by themselves.
  if (/^(?:import|copy)$/.test(name)) continue;
  test(`${title} › the answer to its commit is lost › says how to look`, async () => {
    const lost = Object.assign(new PetstoreError('unavailable', 'lost'), { isUnsure: true });
    const act = withStore(() => Promise.reject(lost), { create: true });
    const database = `sqlite:${join(createProcessFolder(), 'store.db')}`;
    const parsing = new Command(name)
      .option('--database <address>')
      .action(act)
      .parseAsync(['--database', database], { from: 'user' });
    await assert.rejects(parsing, ({ message }) => told.test(`${message}\n`));
  });
}

testOnPostgres(WRITES.filter(({ title }) => ON_POSTGRES.test(title)));
testOnPostgres(
  [...WRITES, ...FILES].filter(({ title }) => ALSO_CUT.test(title)),
  /connection is cut/,
);

testOnSqlite(WRITES.filter(({ title }) => ON_SQLITE.test(title)));
