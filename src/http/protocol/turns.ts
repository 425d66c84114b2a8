/** Bounds how many requests start in a turn of the event loop; they start in the order in which they came. */

// Node accepts one connection in a turn, so long turns keep new clients out.

/** The most requests that start in a turn. */
const STARTED_MAX = 512;
/** The most requests that waited for a turn before and start in one. */
const RESTARTED_MAX = 64;

export class Turns {
  /** What starts the requests that wait, the oldest first. */
  readonly #waiting: (() => void)[] = [];
  #started = 0;
  #isRestarting = false;
  #isScheduled = false;

  /** Whether a request may start now. It may not start before a request that waits. */
  get mayStart(): boolean {
    return this.#isRestarting || (this.#waiting.length === 0 && this.#started < STARTED_MAX);
  }

  /** To be called when a request starts. */
  count(): void {
    this.#started += 1;
    this.#schedule();
  }

  /** Calls `start` in a later turn. */
  wait(start: () => void): void {
    this.#waiting.push(start);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#begin());
  }

  /** Begins a turn. */
  #begin(): void {
    this.#isScheduled = false;
    this.#started = 0;
    this.#isRestarting = true;
    for (const start of this.#waiting.splice(0, RESTARTED_MAX)) start();
    this.#isRestarting = false;
    if (this.#waiting.length > 0) this.#schedule();
  }
}
