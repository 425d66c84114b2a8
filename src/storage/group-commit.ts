/** Group commit: writes that come together share one transaction and one sync of the disk. */

import { setTimeout as sleep } from 'node:timers/promises';
import { PetstoreError } from '../error.ts';
import { Statistics } from '../store.ts';
import type { Row } from './engine.ts';
import { LIMITS } from './limits.ts';

/**
 * Commits without a pause would take the processor, here and in the database, from the reads. So when this process
 * was busy and read something during a commit, a pause follows that commit. The pause lasts PAUSE_FACTOR times as
 * long as the commit, and at most PAUSE_MS_MAX.
 */
const PAUSE_FACTOR = 6;
const PAUSE_MS_MAX = 50;
/** The part of the time since the last commit ended in which the event loop had work. */
const BUSY_MIN = 0.5;

interface Waiting<Write, Result> {
  readonly write: Write;
  readonly bytes: number;
  readonly since: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

type Commit<Write, Result> = (writes: readonly Write[]) => Promise<readonly Outcome<Result>[]>;

/**
 * A function that collects writes during a turn of the event loop, and for as long as a commit is
 * under way, and commits them in groups of `GROUP_MAX` at most, one after the other. Each write gets its
 * own outcome, after its whole group is on the disk.
 *
 * @param commit resolves to the outcomes in the order of the writes; when it fails, all have failed.
 * @param toBytes about how much memory a write takes while it waits.
 * @param waitMsMax how long a write may wait until its commit begins.
 * @throws PetstoreError `unavailable` at once when too many writes wait, or later when the write has waited
 *   for too long.
 */
export function groupCommit<Write, Result>(
  commit: Commit<Write, Result>,
  toBytes: (write: Write) => number,
  statistics = new Statistics(),
  waitMsMax = Infinity,
): (write: Write) => Promise<Result> {
  const queue = new Queue(commit, statistics, waitMsMax);
  return (write) => queue.add(write, toBytes(write));
}

class Queue<Write, Result> {
  readonly #commit: Commit<Write, Result>;
  readonly #statistics: Statistics;
  readonly #waitMsMax: number;
  readonly #waiting: Waiting<Write, Result>[] = [];
  #bytes = 0;
  #isCommitting = false;
  #loop = performance.eventLoopUtilization();
  #reads = 0;

  constructor(commit: Commit<Write, Result>, statistics: Statistics, waitMsMax: number) {
    this.#commit = commit;
    this.#statistics = statistics;
    this.#waitMsMax = waitMsMax;
  }

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
      if (this.#isCommitting) return;
      this.#isCommitting = true;
      setImmediate(() => this.#commitAll());
    });
  }

  async #commitAll(): Promise<void> {
    do {
      const group = this.#take(LIMITS.GROUP_MAX);
      const startedAt = performance.now();
      await this.#commitGroup(group);
      const ms = performance.now() - startedAt;
      const pauseMs = this.#isTakingFromReads() ? Math.min(PAUSE_FACTOR * ms, PAUSE_MS_MAX) : 0;
      this.#statistics.commits += 1;
      this.#statistics.committedWrites += group.length;
      this.#statistics.commitSeconds += ms / 1_000;
      this.#rejectLate(pauseMs);
      if (pauseMs > 0) await sleep(pauseMs);
    } while (this.#waiting.length > 0);
    this.#isCommitting = false;
  }

  async #commitGroup(group: readonly Waiting<Write, Result>[]): Promise<void> {
    try {
      const outcomes = await this.#commit(group.map(({ write }) => write));
      for (const [index, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[index] as Outcome<Result>;
        if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.result);
      }
    } catch (error) {
      // The commit of what gathered meanwhile would most likely fail too, one time limit later.
      for (const { reject } of [...group, ...this.#take(LIMITS.WAITING_WRITES_MAX)]) reject(error);
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
    for (const { reject } of this.#take(late < 0 ? LIMITS.WAITING_WRITES_MAX : late)) {
      reject(new PetstoreError('unavailable', 'the database commits too slowly for all that wait'));
    }
  }

  /** Whether this process was busy and read something since this was last asked. */
  #isTakingFromReads(): boolean {
    const [loop, reads] = [this.#loop, this.#reads];
    this.#loop = performance.eventLoopUtilization();
    this.#reads = this.#statistics.reads;
    const { utilization } = performance.eventLoopUtilization(this.#loop, loop);
    return utilization > BUSY_MIN && this.#reads > reads;
  }
}

/** About how much memory a row takes while it waits. */
export function toRowBytes(row: Row): number {
  return row.reduce((bytes: number, value) => {
    return bytes + (typeof value === 'string' ? 2 * value.length : 32);
  }, 128);
}
