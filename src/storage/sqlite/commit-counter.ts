/** The commit counter of a database: a number that changes with every commit, of this process or another. */

import type { SqliteConnection } from './connection.ts';

export class CommitCounter {
  readonly #connection: SqliteConnection;
  /** Commits of this process: `data_version` leaves out those of this connection, and is read once in a turn. */
  #ownCommits = 0;
  #version = 0;
  /** The turn of the event loop in which it was read. */
  #turn: number | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /**
   * The counter. A commit of this process changes it at once, one of another process before the event loop
   * next looks for requests: only then does it count a turn. NaN, which equals nothing, when it cannot be read: the read that follows then
   * reports the error.
   */
  read(): number {
    const turn = performance.nodeTiming.uvMetricsInfo.loopCount;
    if (turn !== this.#turn) {
      try {
        const [row] = this.#connection.run('pragma data_version', []);
        this.#version = Number(row?.[0]);
      } catch {
        return Number.NaN;
      }
      this.#turn = turn;
    }
    // Neither ever decreases, so the sum changes whenever one of them does.
    return this.#version + this.#ownCommits;
  }

  /** To be called after a commit of this process, before it is acknowledged. */
  increment(): void {
    this.#ownCommits += 1;
    this.#turn = undefined;
  }
}
