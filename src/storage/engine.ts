/** What an engine must do for the storage logic; the queries themselves are in pets.ts and keys.ts. */

/** Integers of 64 bits come back as bigint: a double would round them. */
export type SqlValue = string | bigint | number | Uint8Array | null;

/** The values of a row, in the order of the query's columns. */
export type Row = readonly SqlValue[];

/** SQL that all engines take, with a `?` for each value. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** When it returns no row, the statements after it are left out. */
  readonly isCondition?: boolean;
}

export interface Database {
  /**
   * A number that changes with every commit: at once with one of this process, by the next turn of
   * the event loop with one of another. NaN, which equals nothing, when it cannot be told now.
   * Absent when the engine has to ask another machine.
   */
  readonly readVersion?: () => number;

  /** Resolves when reads and writes can be done. */
  check(): Promise<void>;

  /** SQL that inserts a row of these columns and returns its id, which counts up from 1 in the order of commits. */
  toInsert(table: string, columns: readonly string[]): string;

  /**
   * What inserts a row of these columns and resolves to its id once it is on the disk. Inserts that
   * come together share a transaction; a bad row fails alone.
   */
  createInsert(table: string, columns: readonly string[]): (row: Row) => Promise<bigint>;

  /** The rows of one query. */
  read(sql: string, ...values: readonly SqlValue[]): Promise<Row[]>;

  /** The rows of each statement, all of one transaction. Resolves once it is on the disk. */
  write(...statements: readonly Statement[]): Promise<Row[][]>;

  /**
   * Inserts all the rows, in their order and in one transaction that holds up other writers only
   * for its last step, or none when the iteration fails. Resolves to their count.
   */
  load(table: string, columns: readonly string[], rows: AsyncIterable<Row>): Promise<number>;

  /**
   * Reads of one moment, or reads and inserts that keep all other writers out; nothing is kept when
   * the work fails. No other method may be called until it resolves.
   */
  transact<T>(
    kind: 'snapshot' | 'exclusive',
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T>;

  /** Fills an empty file with a copy of one moment, a database of SQLite, when the engine can itself. */
  readonly copyTo?: (file: string) => Promise<void>;

  close(): Promise<void>;
}

/** One transaction without a limit of time. */
export interface Transaction {
  read(sql: string, ...values: readonly SqlValue[]): Promise<Row[]>;

  /** Inserts rows as they are, with their ids. */
  insert(table: string, columns: readonly string[], rows: readonly Row[]): Promise<void>;

  /** The greatest id that the table ever had; 0 for none. */
  readLastId(table: string): Promise<bigint>;

  writeLastId(table: string, id: bigint): Promise<void>;
}
