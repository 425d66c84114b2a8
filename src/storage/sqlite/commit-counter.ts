/** The commit counter of a database: a number that changes with every commit, of this process or another. */

import type { SqliteConnection } from './connection.ts';

export class CommitCounter {
  readonly #connection: SqliteConnection;
  /** Commits of this process. `data_version` leaves out commits of its own connection, and is read once in a turn. */
  #ownCommits = 0;
  #version = 0;
  /** The turn of the event loop in which `data_version` was read. */
  #turn: number | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /**
   * The counter. A commit of this process changes it at once. A commit of another process changes it before the event
   * loop looks for requests again, which begins a new turn. NaN, which equals nothing, when the counter cannot be
   * read: the read that follows reports the error.
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
    // Both only increase, so the sum changes whenever one of them does.
    return this.#version + this.#ownCommits;
  }

  /** To be called after a commit of this process, before it is acknowledged. */
  increment(): void {
    this.#ownCommits += 1;
    this.#turn = undefined;
  }
}
