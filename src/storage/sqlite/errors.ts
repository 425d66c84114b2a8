/** The errors of node:sqlite: which are retried, and what the others say to the operator. */

import { setTimeout } from 'node:timers/promises';
import { type PetstoreError, unavailable } from '../../error.ts';
import { STORE_LIMITS } from '../limits.ts';
import { describeFileError } from '../private-file.ts';

const BUSY_RETRY_MS = 5;

/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
export const ERROR = 1;
export const BUSY = 5;
export const READONLY = 8;
const IOERR = 10;
/** Extended codes: there is no room for the -shm; the -wal is shorter than another process, which has the database open, says. */
const IOERR_SHMSIZE = 4874;
const IOERR_SHORT_READ = 522;
/** The sync of a commit failed. The -wal has the commit, so it may count after a crash. */
const IOERR_FSYNC = 1034;
/** The extended codes for a disk that cannot be read. */
export const IOERR_READS = [266, 8458];
export const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** An import puts temporary files elsewhere. */
const NO_ROOM =
  'cannot grow: the disk is full, or that of temporary files (SQLITE_TMPDIR, TMPDIR, /var/tmp), or no id is left';
export const WITHOUT_WAL =
  'is without its -wal file, which has its pets: stop the service, and move all files of the database together';
export const DAMAGED = 'is damaged: move all its files away, then restore a backup';

/**
 * The work's result. The work is retried while another process has the lock, for at most BUSY_MS_MAX. The
 * `busy_timeout` of SQLite would block the event loop.
 *
 * @throws what `explain` makes of the error.
 */
export async function retryWhileBusy<T>(file: string, work: () => T): Promise<T> {
  const deadline = performance.now() + STORE_LIMITS.BUSY_MS_MAX.value;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (toResultCode(error) !== BUSY || performance.now() > deadline) throw explain(error, file);
      await setTimeout(BUSY_RETRY_MS);
    }
  }
}

/** The primary result code of an error of SQLite; 0 for any other error. */
export function toResultCode(error: unknown): number {
  return Number(Object(error).errcode) & 0xff;
}

/** Whether the disk is full or broken, by an error that is explained already or not. */
export function isDiskError(error: unknown): boolean {
  return [IOERR, FULL].includes(toResultCode(Object(error).cause ?? error));
}

export function createError(file: string, what: string, cause?: unknown): PetstoreError {
  const error = unavailable(`the database ${file} ${what}`, { cause });
  error.isUnsure = Object(cause).errcode === IOERR_FSYNC;
  return error;
}

/** A PetstoreError for an error that the operator can mend; any other error as it is. */
export function explain<T>(error: T, file: string): T | PetstoreError {
  const { errcode, syscall } = Object(error);
  // An error of the file system: Node, and not SQLite, has looked at the file.
  const unreachable = syscall && describeFileError(Object(error), 'reached');
  const message = EXPLANATIONS.get(errcode) ?? EXPLANATIONS.get(toResultCode(error)) ?? unreachable;
  return message === undefined ? error : createError(file, message, error);
}

export const EXPLANATIONS: ReadonlyMap<number, string> = new Map([
  [BUSY, 'is locked by another process'],
  [READONLY, 'cannot be written: its file and its folder must be writable'],
  [IOERR_SHMSIZE, NO_ROOM],
  [IOERR, 'cannot be read or written: the disk reports an error'],
  [IOERR_SHORT_READ, WITHOUT_WAL],
  [CORRUPT, DAMAGED],
  [FULL, NO_ROOM],
  [
    CANTOPEN,
    'cannot be opened: its folder must exist, and this user must be able to write its folder and its file',
  ],
  [NOTADB, 'is not an SQLite database'],
]);
