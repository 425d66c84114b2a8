/** Group commit: writes that come together share one transaction and one sync of the disk. */

import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import { PetstoreError } from '../error.ts';
import type { StoreCounts } from '../store.ts';

/**
 * Commits without a pause would take the processor from the reads, here and in the database. So a pause follows a
 * commit if this process was busy and read something during it. It lasts PAUSE_FACTOR times as long as the commit. For
 * the same reason, such a process then has one group under way.
 */
const PAUSE_FACTOR = 6;
const PAUSE_MS_MAX = 50;
/** A process is busy when its event loop has work for more than this part of the time. */
const BUSY_MIN = 0.5;

interface WaitingWrite<Write, Result> {
  readonly write: Write;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects writes until a turn of the event loop adds none, and the writes that come while all groups are under way.
 *
 * @param commit rejects with a PetstoreError when the database fails; after any other error nothing is written.
 */
export function createGroupCommit<Write, Result>(
  commit: (writes: readonly Write[]) => Promise<readonly Result[]>,
  counts: StoreCounts,
  groupsMax = 1,
) {
  const waiting: WaitingWrite<Write, Result>[] = [];
  let underWay = 0;
  let isCollecting = false;
  let sparesReads = false;
  let ended = Promise.resolve();

  /** @throws PetstoreError when the database fails, and not a write. */
  async function settle(group: readonly WaitingWrite<Write, Result>[]): Promise<void> {
    const startedAt = performance.now();
    try {
      const results = await commit(group.map(({ write }) => write));
      counts.commits += 1;
      counts.committedWrites += group.length;
      counts.commitSeconds += (performance.now() - startedAt) / 1_000;
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (error instanceof PetstoreError) throw error;
      if (group.length === 1) group[0]?.reject(error);
      // The database refuses one of the writes: one by one, the others succeed.
      else for (const one of group) await settle([one]);
    }
  }

  /** Resolves to the time that it took, in milliseconds. */
  async function commitWaiting(): Promise<number> {
    const group = waiting.splice(0);
    const startedAt = performance.now();
    try {
      await settle(group);
    } catch (error) {
      // The writes that came meanwhile would most likely fail too, one time limit later.
      for (const { reject } of [...group, ...waiting.splice(0)]) reject(error);
    }
    return performance.now() - startedAt;
  }

  async function commitAll(): Promise<void> {
    // A turn starts only some of the creates that came together.
    for (let count = 0; count < waiting.length; ) {
      count = waiting.length;
      await endOfTurn();
    }
    isCollecting = false;
    while (waiting.length > 0) {
      const loop = performance.eventLoopUtilization();
      const { reads } = counts;
      const ms = await commitWaiting();
      const isBusy = performance.eventLoopUtilization(loop).utilization > BUSY_MIN;
      sparesReads = isBusy && counts.reads > reads;
      if (sparesReads) await sleep(Math.min(PAUSE_FACTOR * ms, PAUSE_MS_MAX));
    }
    underWay -= 1;
  }

  return {
    /** Settles with the write's own outcome, once its whole group is on the disk. */
    add(write: Write): Promise<Result> {
      return new Promise((resolve, reject) => {
        waiting.push({ write, resolve, reject });
        if (isCollecting || underWay >= (sparesReads ? 1 : groupsMax)) return;
        isCollecting = true;
        underWay += 1;
        const before = ended;
        ended = commitAll().then(() => before);
      });
    },

    drain: () => ended,
  };
}
