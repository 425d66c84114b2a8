/** A connection of node:sqlite: prepared statements and transactions. */

import { resolve } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { MEMORY_FILE } from '../address.ts';
import type { Row, SqlValue } from '../engine.ts';

/** The write-ahead log shrinks to 64 MiB after a large transaction. Functions of the schema may not have side effects. */
export const SETTINGS =
  'pragma synchronous = full; pragma journal_size_limit = 67108864; pragma trusted_schema = off';

export class SqliteConnection extends DatabaseSync {
  /** How messages name the database. */
  readonly file: string;
  readonly #statements = new Map<string, StatementSync>();
  /** `data_version` leaves out the commits of its own connection. */
  #ownCommits = 0;
  #dataVersion = 0;
  /** The number of the turn in which `#dataVersion` was read; undefined if it must be read again. */
  #readInTurn: number | undefined;

  /** @param timeout how long SQLite blocks for a lock, in milliseconds; with 0 a lock is an error at once. */
  constructor(file: string, timeout: number) {
    // SQLite would read a relative path such as `file:x` as a URI with options.
    const path = file === MEMORY_FILE ? file : resolve(file);
    // Defensive: no statement can write to the schema or corrupt the file.
    super(path, { timeout, defensive: true, readBigInts: true, returnArrays: true });
    this.file = file;
  }

  /** The rows of a statement, which is prepared at its first use. */
  run(sql: string, ...values: readonly SqlValue[]): Row[] {
    const statement = this.#statements.get(sql) ?? this.prepare(sql);
    this.#statements.set(sql, statement);
    return statement.all(...values) as unknown as Row[];
  }

  /**
   * A number that changes with every commit. It is NaN if it cannot be read: the next read then reports the error.
   * `data_version` is read once in a turn: whoever has the answer to a write of another process can only send a request
   * for a later turn.
   */
  readCommitCounter(): number {
    // Node counts the turns of its event loop.
    const turn = performance.nodeTiming.uvMetricsInfo.loopCount;
    if (turn !== this.#readInTurn) {
      try {
        const [row] = this.run('pragma data_version');
        this.#dataVersion = Number(row?.[0]);
      } catch {
        return Number.NaN;
      }
      this.#readInTurn = turn;
    }
    // Both only increase, so the sum changes whenever one of them does.
    return this.#dataVersion + this.#ownCommits;
  }

  /** To be called after a commit of this process, before it is acknowledged. */
  countCommit(): void {
    this.#ownCommits += 1;
    this.#readInTurn = undefined;
  }

  transact<T>(begin: 'begin' | 'begin immediate', work: () => T): T {
    this.exec(begin);
    try {
      const result = work();
      this.exec('commit');
      return result;
    } catch (error) {
      if (this.isTransaction) this.exec('rollback');
      throw error;
    }
  }
}
