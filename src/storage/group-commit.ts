/** Group commit: writes that come together share one transaction and one sync of the disk. */

import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import { PetstoreError } from '../error.ts';
import type { Statistics } from '../statistics.ts';
import type { Row } from './engine.ts';
import { LIMITS } from './limits.ts';

/**
 * Commits without a pause would take the processor from the reads, here and in the database. So a pause follows a
 * commit if this process was busy and read something during it: PAUSE_FACTOR times as long as the commit.
 */
const PAUSE_FACTOR = 6;
const PAUSE_MS_MAX = 50;
/** A process is busy when its event loop has work for more than this part of the time. */
const BUSY_MIN = 0.5;

interface Waiting<Write, Result> {
  readonly write: Write;
  readonly bytes: number;
  readonly since: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Collects writes during a turn of the event loop, and during a commit. Commits one group after the other. */
export class GroupCommit<Write, Result> {
  readonly #commit: (writes: readonly Write[]) => Promise<readonly Result[]>;
  readonly #statistics: Statistics;
  readonly #waitMsMax: number;
  readonly #waiting: Waiting<Write, Result>[] = [];
  #bytes = 0;
  #committing: Promise<void> | undefined;

  /**
   * @param commit resolves to the results in the order of the writes. It rejects with a PetstoreError when the
   *   database fails; after any other error nothing is written.
   * @param waitMsMax how long a write may wait until its commit begins.
   */
  constructor(
    commit: (writes: readonly Write[]) => Promise<readonly Result[]>,
    statistics: Statistics,
    waitMsMax = Infinity,
  ) {
    this.#commit = commit;
    this.#statistics = statistics;
    this.#waitMsMax = waitMsMax;
  }

  /**
   * Settles with the write's own outcome, once its whole group is on the disk.
   *
   * @param bytes about how much memory the write takes.
   * @throws PetstoreError `unavailable` at once when too many writes wait, or later when this write has
   *   waited for too long.
   */
  add(write: Write, bytes: number): Promise<Result> {
    if (
      this.#waiting.length >= LIMITS.WAITING_WRITES_MAX ||
      this.#bytes + bytes > LIMITS.WAITING_WRITE_BYTES_MAX
    ) {
      return Promise.reject(new PetstoreError('unavailable', 'too many writes wait for the disk'));
    }
    this.#bytes += bytes;
    this.#statistics.waitingWrites += 1;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, bytes, since: performance.now(), resolve, reject });
      this.#committing ??= this.#commitAll();
    });
  }

  /** Resolves when no write waits. */
  async drain(): Promise<void> {
    await this.#committing;
  }

  async #commitAll(): Promise<void> {
    await endOfTurn();
    do {
      const loop = performance.eventLoopUtilization();
      const { reads } = this.#statistics;
      const ms = await this.#commitGroup(this.#take(LIMITS.GROUP_MAX));
      const isBusy = performance.eventLoopUtilization(loop).utilization > BUSY_MIN;
      const takesFromReads = isBusy && this.#statistics.reads > reads;
      const pauseMs = takesFromReads ? Math.min(PAUSE_FACTOR * ms, PAUSE_MS_MAX) : 0;
      this.#rejectLate(pauseMs);
      if (pauseMs > 0) await sleep(pauseMs);
    } while (this.#waiting.length > 0);
    this.#committing = undefined;
  }

  /** Resolves to how long the commit took, in milliseconds. */
  async #commitGroup(group: readonly Waiting<Write, Result>[]): Promise<number> {
    const startedAt = performance.now();
    try {
      await this.#settle(group);
    } catch (error) {
      // The writes that gathered meanwhile would most likely fail too, one time limit later.
      for (const { reject } of [...group, ...this.#take(LIMITS.WAITING_WRITES_MAX)]) reject(error);
    }
    const ms = performance.now() - startedAt;
    this.#statistics.commits += 1;
    this.#statistics.committedWrites += group.length;
    this.#statistics.commitSeconds += ms / 1_000;
    return ms;
  }

  /** @throws PetstoreError when the database fails, and not a write. */
  async #settle(group: readonly Waiting<Write, Result>[]): Promise<void> {
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

  #take(count: number): Waiting<Write, Result>[] {
    const taken = this.#waiting.splice(0, count);
    for (const { bytes } of taken) this.#bytes -= bytes;
    this.#statistics.waitingWrites -= taken.length;
    return taken;
  }

  #rejectLate(pauseMs: number): void {
    const latest = performance.now() + pauseMs - this.#waitMsMax;
    const late = this.#waiting.findIndex(({ since }) => since >= latest);
    const message = 'the database commits too slowly for the writes that wait';
    for (const { reject } of this.#take(late < 0 ? LIMITS.WAITING_WRITES_MAX : late)) {
      reject(new PetstoreError('unavailable', message));
    }
  }
}

/** About how much memory a row takes. */
export function toRowBytes(row: Row): number {
  return row.reduce((bytes: number, value) => {
    return bytes + (typeof value === 'string' ? 2 * value.length : 32);
  }, 128);
}
