/** Bounds how many requests start in a turn of the event loop: Node accepts one connection in a turn. */

/** The most requests that start in the turn in which they come. */
const STARTED_MAX = 512;
/** The most requests above STARTED_MAX that start in a later turn. */
const LATE_MAX = 64;
/** The most requests that start behind another one of their connection. Pipelining must not delay other clients. */
const BEHIND_MAX = 16;

export class Turns {
  /** What starts the requests that wait, the oldest first. */
  readonly #late: (() => void)[] = [];
  readonly #behind: (() => void)[] = [];
  /** How many requests may still start in this turn. */
  #left = STARTED_MAX;
  #next: NodeJS.Immediate | undefined;

  /** Whether a request may start now. It may not start before a late one. */
  get mayStart(): boolean {
    return this.#left > 0;
  }

  countStarted(): void {
    this.#left -= 1;
    this.#schedule();
  }

  /** Calls `start` in a later turn. @param isBehind whether another request of its connection was at work. */
  wait(start: () => void, isBehind: boolean): void {
    (isBehind ? this.#behind : this.#late).push(start);
    if (!isBehind) this.#left = 0;
    this.#schedule();
  }

  #schedule(): void {
    this.#next ??= setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#next = undefined;
    this.#left = STARTED_MAX;
    for (const start of this.#late.splice(0, LATE_MAX)) start();
    for (const start of this.#behind.splice(0, BEHIND_MAX)) start();
    if (this.#late.length > 0) this.#left = 0;
    if (this.#late.length + this.#behind.length > 0) this.#schedule();
  }
}
