/** Group commit: writes that come together share one transaction and one sync of the disk. */

import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import { PetstoreError } from '../error.ts';
import type { Statistics } from '../statistics.ts';

/**
 * Commits without a pause would take the processor from the reads, here and in the database. So a pause follows a
 * commit if this process was busy and read something during it: PAUSE_FACTOR times as long as the commit. For the same
 * reason, such a process then has one group under way.
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

/** Collects the writes of a turn of the event loop, and those that come while all groups are under way. */
export class GroupCommit<Write, Result> {
  readonly #commit: (writes: readonly Write[]) => Promise<readonly Result[]>;
  readonly #statistics: Statistics;
  readonly #groupsMax: number;
  #waiting: WaitingWrite<Write, Result>[] = [];
  #underWay = 0;
  /** Whether the writes that wait are taken at the end of this turn. */
  #isCollecting = false;
  #sparesReads = false;
  #ended = Promise.resolve();

  /**
   * @param commit resolves to the results in the order of the writes. It rejects with a PetstoreError when the
   *   database fails; after any other error nothing is written.
   * @param groupsMax how many groups may be under way.
   */
  constructor(
    commit: (writes: readonly Write[]) => Promise<readonly Result[]>,
    statistics: Statistics,
    groupsMax = 1,
  ) {
    this.#commit = commit;
    this.#statistics = statistics;
    this.#groupsMax = groupsMax;
  }

  /** Settles with the write's own outcome, once its whole group is on the disk. */
  add(write: Write): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject });
      const groupsMax = this.#sparesReads ? 1 : this.#groupsMax;
      if (this.#isCollecting || this.#underWay >= groupsMax) return;
      this.#isCollecting = true;
      this.#underWay += 1;
      const before = this.#ended;
      this.#ended = this.#commitAll().then(() => before);
    });
  }

  /** Resolves when no write waits. */
  async drain(): Promise<void> {
    await this.#ended;
  }

  async #commitAll(): Promise<void> {
    await endOfTurn();
    this.#isCollecting = false;
    while (this.#waiting.length > 0) {
      const loop = performance.eventLoopUtilization();
      const { reads } = this.#statistics;
      const ms = await this.#commitGroup(this.#take());
      const isBusy = performance.eventLoopUtilization(loop).utilization > BUSY_MIN;
      this.#sparesReads = isBusy && this.#statistics.reads > reads;
      if (this.#sparesReads) await sleep(Math.min(PAUSE_FACTOR * ms, PAUSE_MS_MAX));
    }
    this.#underWay -= 1;
  }

  /** Resolves to how long the commit took, in milliseconds. */
  async #commitGroup(group: readonly WaitingWrite<Write, Result>[]): Promise<number> {
    const startedAt = performance.now();
    try {
      await this.#settle(group);
    } catch (error) {
      // The writes that gathered meanwhile would most likely fail too, one time limit later.
      for (const { reject } of [...group, ...this.#take()]) reject(error);
    }
    const ms = performance.now() - startedAt;
    this.#statistics.commits += 1;
    this.#statistics.committedWrites += group.length;
    this.#statistics.commitSeconds += ms / 1_000;
    return ms;
  }

  /** @throws PetstoreError when the database fails, and not a write. */
  async #settle(group: readonly WaitingWrite<Write, Result>[]): Promise<void> {
    try {
      const results = await this.#commit(group.map(({ write }) => write));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (error instanceof PetstoreError) throw error;
      if (group.length === 1) group[0]?.reject(error);
      // The database refuses one of the writes: one by one, the others succeed.
      else for (const one of group) await this.#settle([one]);
    }
  }

  #take(): WaitingWrite<Write, Result>[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}
