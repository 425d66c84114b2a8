/** What node:sqlite throws, by its result code: what is worth another try, and the operator's words for the rest. */

import { setTimeout } from 'node:timers/promises';
import { PetstoreError } from '../../error.ts';

/** How long a write waits for one of another process before it is `unavailable`. */
export const BUSY_MS_MAX = 4_000;
const BUSY_RETRY_MS = 5;

/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/**
 * The work's result, tried again while another process holds the lock. SQLite's own busy_timeout
 * would stop the whole event loop for as long.
 */
export async function whenFree<T>(work: () => T): Promise<T> {
  const deadline = performance.now() + BUSY_MS_MAX;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await setTimeout(BUSY_RETRY_MS);
    }
  }
}

/** The primary code of an error of SQLite; undefined for any other error. */
export function findResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error)) return undefined;
  return Number(error.errcode) & 0xff;
}

/** Whether another process holds the lock. */
export function isBusy(error: unknown): boolean {
  const code = findResultCode(error);
  return code === BUSY || code === LOCKED;
}

/** Whether pages contradict each other. */
export function isDamage(error: unknown): boolean {
  return findResultCode(error) === CORRUPT;
}

/** An error of SQLite in the operator's words when there is something to do about it. */
export function explain(error: unknown, file: string): unknown {
  const message = EXPLANATIONS.get(findResultCode(error) ?? -1);
  if (message === undefined) return error;
  return new PetstoreError('unavailable', `the database ${file} ${message}`, { cause: error });
}

const EXPLANATIONS: ReadonlyMap<number, string> = new Map([
  [BUSY, 'is held by another process'],
  [LOCKED, 'is held by another process'],
  [READONLY, 'cannot be written: its file and its folder must be writable'],
  [IOERR, 'cannot be read or written: the disk reports an error'],
  [CORRUPT, 'is damaged: restore it from a backup'],
  [FULL, 'cannot grow: the disk is full'],
  [CANTOPEN, 'cannot be opened: its folder must exist and be writable'],
  [NOTADB, 'is not an SQLite database'],
]);
