/** The ends of a command that PostgreSQL holds while it commits or reads. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestDatabase, endSessions, NO_SESSIONS } from '../support/postgres.ts';
import type { Finished } from '../support/program.ts';
import { until, within } from '../support/until.ts';
import { getSignal, type Row } from './command-ends.ts';
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
/** The ends of a command that commits. */
const listCommitEnds = (signal: NodeJS.Signals): Readonly<Record<string, End>> => ({
  [`${signal} comes`]: toSignalled(signal, 0),
  [`${signal} comes, and no answer`]: toSignalled(signal, null),
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

function assertEnd(row: Row, end: End, { status, stderr, seen }: Finished & { seen: string }) {
  const expected = isRetried(row) ? [0, false] : [end.status, !end.isKnown];
  assert.deepEqual([status, row.told.test(stderr)], expected, stderr);
  assert.match(seen, end.isDone || isRetried(row) ? row.ifDone : row.ifNot);
}

/** Goes through the ends of these commands. */
export function testOnPostgres(rows: readonly Row[]): void {
  describe('commands on postgresql', { skip: NO_SESSIONS, concurrency: 4 }, () => {
    for (const [index, row] of rows.entries()) {
      const ends = row.look ? listCommitEnds(getSignal(index)) : listReadEnds(getSignal(index));
      for (const [what, end] of Object.entries(ends)) {
        // A statement of another command waits for 5 s.
        const isShort = row.look && !/^(?:pets import|pets remove|copy)/.test(row.command);
        if (end.status === null && isShort) continue;
        test(`${row.title} on postgresql › ${what} while it commits or reads › says what is known`, async () => {
          assertEnd(row, end, await endOnPostgres(row, end));
        });
      }
    }
  });
}
