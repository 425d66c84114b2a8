/** Group commit: writes that come together share one transaction and one sync of the disk. */

import { PetstoreError } from '../error.ts';
import type { Row } from './engine.ts';
import { Statistics } from './statistics.ts';

/** The most that may wait; a write above it is refused at once. A create takes about 1 KiB at most. */
const WAITING_MAX = 10_000;
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

interface Waiting<Write, Result> {
  readonly write: Write;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** How one write of a group ended. */
export type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

/**
 * A function that collects writes during a turn of the event loop, and for as long as a commit is
 * under way, and commits them as one group. Each write gets its own outcome, after the whole group is
 * on the disk.
 *
 * @param commit resolves to the outcomes in the order of the writes; when it fails, all have failed.
 * @param toBytes about how much memory a write takes while it waits.
 * @throws PetstoreError `unavailable` when too much waits already.
 */
export function groupCommit<Write, Result>(
  commit: (writes: readonly Write[]) => Promise<readonly Outcome<Result>[]>,
  toBytes: (write: Write) => number,
  statistics = new Statistics(),
): (write: Write) => Promise<Result> {
  let waiting: Waiting<Write, Result>[] = [];
  let bytes = 0;
  let isCommitting = false;

  async function commitAll(): Promise<void> {
    while (waiting.length > 0) {
      const group = takeWaiting();
      const startedAt = performance.now();
      try {
        settle(group, await commit(group.map(({ write }) => write)));
      } catch (error) {
        // The commit of what gathered meanwhile would most likely fail too, one time limit later.
        for (const { reject } of [...group, ...takeWaiting()]) reject(error);
      }
      statistics.commits += 1;
      statistics.committedWrites += group.length;
      statistics.commitSeconds += (performance.now() - startedAt) / 1_000;
    }
    isCommitting = false;
  }

  function takeWaiting(): Waiting<Write, Result>[] {
    const taken = waiting;
    waiting = [];
    bytes = 0;
    statistics.waitingWrites -= taken.length;
    return taken;
  }

  return (write) => {
    const size = toBytes(write);
    if (waiting.length >= WAITING_MAX || bytes + size > WAITING_BYTES_MAX) {
      return Promise.reject(new PetstoreError('unavailable', 'too many writes wait for the disk'));
    }
    bytes += size;
    statistics.waitingWrites += 1;
    return new Promise((resolve, reject) => {
      waiting.push({ write, resolve, reject });
      if (isCommitting) return;
      isCommitting = true;
      setImmediate(commitAll);
    });
  };
}

function settle<Write, Result>(
  group: readonly Waiting<Write, Result>[],
  outcomes: readonly Outcome<Result>[],
): void {
  for (const [index, { resolve, reject }] of group.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) reject(new Error('a write has no outcome'));
    else if ('error' in outcome) reject(outcome.error);
    else resolve(outcome.result);
  }
}

/** About how much memory a row takes while it waits. */
export function toRowBytes(row: Row): number {
  return row.reduce((bytes: number, value) => {
    return bytes + (typeof value === 'string' ? 2 * value.length : 32);
  }, 128);
}
