/** Commands that PostgreSQL holds at their commit, or while they read pets, and how they end there. */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createTestDatabase, endSessions, NO_SESSIONS } from '../support/postgres.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import { type Finished, importing, startProgram } from '../support/program.ts';
import { startProxy } from '../support/proxy.ts';
import { until, within } from '../support/until.ts';
import { getSignal, prepare, type Row, see, toArgs } from './command-ends.ts';

const HEARD = 'heard';
/** Of two signals that wait, the kernel passes SIGWINCH on last. */
const TELL = importing(`process.on('SIGWINCH', () => process.stdout.write('${HEARD}'))`);

const WAIT = 'perform pg_sleep(0.01)';
/** In place of a wait, what a full disk does. */
const FAIL_AS_FULL = "raise exception 'could not extend file' using errcode = '53100'";

/** A snapshot also sees the value of a sequence. */
const RELEASE = "select setval('held', 2)";
const toHold = (what: string) => `create sequence held;
  create function hold() returns boolean language plpgsql as $$ begin
    while (select last_value = 1 from held) loop ${what}; end loop;
    return true;
  end $$;
  create function hold_commit() returns trigger language plpgsql as $$ begin
    perform hold();
    return null;
  end $$;
  create function hold_table(name text) returns void language plpgsql as $$ begin
    execute format('create constraint trigger hold after insert or update or delete on %s
      deferrable initially deferred for each row execute function hold_commit()', name);
  end $$;`;
const HOLD_READS = `alter table pets rename to held_pets;
  create view pets as select * from held_pets where hold()`;
const HOLD_COMMITS = `select hold_table(relname) from pg_class
  where relkind = 'r' and relname in ('pets', 'api_keys', 'petstore_schema')`;
/** Of tables that the command makes. */
const HOLD_LATER_COMMITS = `create function hold_new() returns event_trigger language plpgsql as $$ begin
    perform hold_table(object_identity) from pg_event_trigger_ddl_commands()
      where command_tag = 'CREATE TABLE' and object_identity ~ '(pets|api_keys)$';
  end $$;
  create event trigger hold_new on ddl_command_end execute function hold_new()`;

const count = async (address: string, what: string) => {
  const sql = `select from pg_stat_activity where datname = current_database() and ${what}`;
  return (await queryOnce(address, sql)).rowCount;
};

const untilNone = (address: string) =>
  until(async () => (await count(address, "application_name = 'petstore'")) === 0);

/** Starts the command on a new store in this database, and waits until it is held, unless something else happens. */
export async function startHeld(row: Row, address: string, what = WAIT) {
  await using stack = new AsyncDisposableStack();
  const cwd = await prepare(row, address);
  const names = readdirSync(cwd);
  const hold = row.store === 'none' ? HOLD_LATER_COMMITS : HOLD_COMMITS;
  await queryOnce(address, toHold(what) + (row.look === '' ? HOLD_READS : hold));
  const proxy = stack.use(await startProxy(address));
  const env = { PETSTORE_DATABASE: proxy.address, ...TELL };
  const program = stack.use(startProgram(toArgs(row.command, proxy.address), { cwd, env }));
  if (what === WAIT) {
    await until(async () => (await count(address, "wait_event = 'PgSleep'")) === 1);
  }
  const started = stack.move();
  return {
    ...program,
    cut: proxy.cut,
    /** Resolves when the command has heard the signals that were sent before. */
    async untilHeard() {
      program.process.kill('SIGWINCH');
      await until(() => program.output.stdout.endsWith(HEARD));
    },
    /** Lets the database go on. */
    release: () => queryOnce(address, RELEASE),
    /** Shows what the command told to look with, or else the files that the command left. */
    async look() {
      await untilNone(address);
      if (row.look !== '') return await see(row.look, cwd, address);
      return readdirSync(cwd)
        .filter((name) => !names.includes(name))
        .join();
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

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
/** The ends of a command that commits. */
const listCommitEnds = (signal: NodeJS.Signals): Readonly<Record<string, End>> => ({
  [`${signal} comes`]: toSignalled(signal, 0),
  [`${signal} comes, and no answer`]: {
    async by({ process }, address) {
      process.kill(signal);
      // Its locks end while its statement is held.
      await untilNone(address);
    },
    ...{ status: null, isDone: false },
  },
  ...CUTS,
  'the disk is full': { what: FAIL_AS_FULL, status: 1, isDone: false, isKnown: true },
});
const listReadEnds = (signal: NodeJS.Signals): Readonly<Record<string, End>> => ({
  [`${signal} comes`]: toSignalled(signal, null),
  ...CUTS,
});

/** Starts a command on a database that holds it, ends it there, lets the database go on, and looks. */
async function endOnPostgres(row: Row, { by, status, what }: End) {
  await using database = await createTestDatabase();
  await using program = await startHeld(row, database.address, what);
  await by?.(program, database.address);
  if (status === 0) await program.untilHeard();
  else if (isRetried(row)) await until(() => program.output.stderr !== '');
  else await within(program.finished);
  await program.release();
  const finished = await within(program.finished);
  return { ...finished, seen: await program.look() };
}

/** A migration tries again by itself. */
const isRetried = ({ command }: Row) => command === 'migrate';

export function assertEnd(
  row: Row,
  end: End,
  { status, stderr, seen }: Finished & { seen: string },
) {
  const expected = isRetried(row) ? [0, false] : [end.status, !end.isKnown];
  assert.deepEqual([status, row.told.test(stderr)], expected, stderr);
  assert.match(seen, end.isDone || isRetried(row) ? row.ifDone : row.ifNot);
}

/** Goes through the ends of these commands, or through some of them. */
export function testOnPostgres(rows: readonly Row[], some = /^/): void {
  describe('commands on postgresql', { skip: NO_SESSIONS, concurrency: 4 }, () => {
    for (const [index, row] of rows.entries()) {
      const ends = row.look ? listCommitEnds(getSignal(index)) : listReadEnds(getSignal(index));
      for (const [what, end] of Object.entries(ends)) {
        // A statement of another command waits for 5 s.
        const isShort = row.look && !/^(?:pets import|pets remove|copy)/.test(row.command);
        if ((end.status === null && isShort) || !some.test(what)) continue;
        test(`${row.title} on postgresql › ${what} while it commits or reads › says what is known`, async () => {
          assertEnd(row, end, await endOnPostgres(row, end));
        });
      }
    }
  });
}
