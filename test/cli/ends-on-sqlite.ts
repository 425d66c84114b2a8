/** Commands on SQLite whose disk is full, or that get a signal while they write, and how they end there. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { runProgram, signalAt } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { getSignal, prepare, type Row, see, toArgs } from './command-ends.ts';

/** Makes the store of a command in a file, and what runs commands on it. */
async function open(row: Row) {
  const file = join(createProcessFolder(), 'store.db');
  const address = `sqlite:${file}`;
  const cwd = await prepare(row, address);
  const options = { cwd, env: { PETSTORE_DATABASE: address } };
  const look = (command: string) => see(command, cwd, address);
  return { file, options, args: toArgs(row.command, address), look };
}

export function testOnSqlite(rows: readonly Row[]): void {
  describe('commands on sqlite', { concurrency: 4 }, () => {
    for (const [index, row] of rows.entries()) {
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
}
