/** How each command that writes ends: done, not done, or not known. What it tells then is followed to the letter. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/run.ts';
import { createTestDatabase, endSessions, NO_SESSIONS } from '../support/postgres.ts';
import { type Cluster, queryOnce, startCluster } from '../support/postgres-cluster.ts';
import { type Finished, runProgram, signalAt, startProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';
import {
  ENDS,
  FILES,
  NOT_KNOWN,
  prepare,
  type Row,
  SIGNALS,
  see,
  toArgs,
  WRITES,
} from './command-ends.ts';
import { FAIL_AS_FULL, startHeld } from './held-command.ts';

interface End {
  /** What ends the command while the database holds it. */
  readonly by?: (program: Awaited<ReturnType<typeof startHeld>>, address: string) => unknown;
  /** The exit status; null if a signal ends it. */
  readonly status: number | null;
  readonly isDone: boolean;
  readonly isKnown?: boolean;
  readonly what?: string;
}
const CUTS: Readonly<Record<string, End>> = {
  'its connection is cut': { by: ({ cut }) => cut(), status: 1, isDone: true },
  'its session is ended': { by: (_, address) => endSessions(address), status: 1, isDone: false },
};
const toSignalled = (signal: NodeJS.Signals, status: number | null): End => ({
  by: ({ process }) => process.kill(signal),
  ...{ status, isDone: true, isKnown: status === 0 },
});
/** The ends of a command that commits. On SQLite each gets all three signals. */
const listCommitEnds = (signal: NodeJS.Signals): Readonly<Record<string, End>> => ({
  [`${signal} comes`]: toSignalled(signal, 0),
  [`${signal} comes, and no answer`]: toSignalled(signal, null),
  ...CUTS,
  'the disk is full': { what: FAIL_AS_FULL, status: 1, isDone: false, isKnown: true },
});
const READ_ENDS: Readonly<Record<string, End>> = {
  ...Object.fromEntries(SIGNALS.map((signal) => [signal, toSignalled(signal, null)])),
  ...CUTS,
};
/** Starts a command on a database that holds it, ends it there, lets the database go on, and looks. */
async function endOnPostgres(row: Row, { by, status, what }: End) {
  await using database = await createTestDatabase();
  await using program = await startHeld(row, database.address, what);
  await by?.(program, database.address);
  // The others end without an answer.
  await (status === 0 || isRetried(row) ? sleep(200) : within(program.finished));
  await program.release();
  const finished = await within(program.finished);
  return { ...finished, seen: await program.look() };
}

/** A migration tries again by itself. */
const isRetried = ({ command }: Row) => command === 'migrate';

function assertEnd(row: Row, end: End, { status, stderr, seen }: Finished & { seen: string }) {
  const expected = isRetried(row) ? [0, false] : [end.status, !end.isKnown];
  assert.deepEqual([status, row.told.test(stderr)], expected, stderr);
  assert.match(seen, end.isDone || isRetried(row) ? row.ifDone : row.ifNot);
}

test('the table of ends › has each command', () => {
  const help = createProgram().createHelp();
  const list = (group: Command, before = ''): string[] =>
    help.visibleCommands(group).flatMap((command) => {
      const name = `${before}${command.name()}`;
      return command.commands.length > 0 ? list(command, `${name} `) : name;
    });
  const names = list(createProgram()).filter((name) => !name.endsWith('help'));
  assert.deepEqual(names.sort(), Object.keys(ENDS).sort());
});

test('pets generate › each signal comes while it prints › ends it', async () => {
  for (const sent of SIGNALS) {
    const cwd = createProcessFolder();
    await using program = startProgram(['pets', 'generate', '--count', '1000000000'], { cwd });
    await until(() => program.output.stdout !== '');
    program.process.kill(sent);
    const { signal, stderr } = await within(program.finished);
    assert.deepEqual([signal, stderr], [sent, '']);
  }
});

describe('commands on postgresql', { skip: NO_SESSIONS, concurrency: 4 }, () => {
  for (const [index, row] of [...WRITES, ...FILES].entries()) {
    const signal = SIGNALS[index % 3] ?? 'SIGINT';
    for (const [what, end] of Object.entries(row.look ? listCommitEnds(signal) : READ_ENDS)) {
      // A statement of another command waits for 5 s.
      const isShort = row.look && !/^(?:pets import|pets remove|copy)/.test(row.command);
      if (end.status === null && isShort) continue;
      test(`${row.title} on postgresql › ${what} while it commits or reads › says what is known`, async () => {
        assertEnd(row, end, await endOnPostgres(row, end));
      });
    }
  }
});

describe('commands whose server is killed', { skip: NO_SESSIONS }, () => {
  let cluster: Cluster;
  before(async () => {
    // Else a crash could lose commits.
    cluster = await startCluster({ settings: { synchronous_commit: 'on' } });
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  async function killServerUnder(rows: readonly Row[]) {
    await using stack = new AsyncDisposableStack();
    const hold = async (row: Row) => {
      const name = `killed_${randomUUID().replaceAll('-', '')}`;
      await queryOnce(
        cluster.url(),
        `create database ${name} template template0 strategy file_copy`,
      );
      return { row, program: stack.use(await startHeld(row, cluster.url(name))) };
    };
    const held = await Promise.all(rows.map(hold));
    await cluster.stop('SIGKILL');
    await cluster.start();
    const ended = held.map(async ({ row, program }) => {
      await program.release();
      return { row, ...(await within(program.finished)), seen: await program.look() };
    });
    return await Promise.all(ended);
  }

  const rows = [...WRITES, ...FILES];
  // Few at a time: the statement of a command waits for 4 s.
  for (let at = 0; at < rows.length; at += 4) {
    const some = rows.slice(at, at + 4);
    const titles = some.map(({ title }) => title).join(', ');
    test(`${titles} › while they commit or read › say what is known`, async () => {
      for (const { row, ...finished } of await killServerUnder(some)) {
        assertEnd(row, { status: 1, isDone: false }, finished);
      }
    });
  }
});

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

  for (const row of WRITES) {
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
      assert.deepEqual([full.status, NOT_KNOWN.test(full.stderr)], [1, false], full.stderr);
      assert.equal(await readAll(), before);
    });

    for (const signal of SIGNALS) {
      test(`${row.title} on sqlite › ${signal} comes while it writes › says what is known`, async () => {
        const { options, args, look } = await open(row);
        const env = { ...options.env, ...signalAt('begin immediate', signal) };
        const { stderr, ...ended } = await runProgram(args, { ...options, env });
        const isNotDone = /^stopped: nothing was \w+\n$/.test(stderr);
        // On a very busy machine, a commit of SQLite takes longer than the wait for its answer.
        assert.equal(isNotDone || row.told.test(stderr), ended.signal === signal, stderr);
        assert.match(await look(row.look), isNotDone ? row.ifNot : row.ifDone);
      });
    }
  }
});
