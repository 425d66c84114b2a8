/** What an engine must do for the storage logic; the queries themselves are in pets.ts and keys.ts. */

/** Integers come back as bigint: a double would round an int64. */
export type SqlValue = string | bigint | number | Uint8Array | null;

/** The values of a row, in the order of the query's columns. */
export type Row = readonly SqlValue[];

export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

export interface Database {
  /**
   * A number that changes with every commit: at once with one of this process, by the next turn of
   * the event loop with one of another. NaN, which equals nothing, when it cannot be told now.
   */
  readVersion(): number;

  /** Resolves when reads and writes can be done. */
  check(): Promise<void>;

  /** The rows of one query. */
  read(sql: string, ...values: readonly SqlValue[]): Promise<Row[]>;

  /** The rows of each statement, all of one transaction. Resolves once it is on the disk. */
  write(...statements: readonly Statement[]): Promise<Row[][]>;

  /**
   * Inserts all the rows, in their order and in one transaction that holds up other writers only
   * for its last step, or none when the iteration fails. Resolves to their count.
   */
  load(
    table: string,
    columns: readonly string[],
    rows: AsyncIterable<readonly SqlValue[]>,
  ): Promise<number>;

  /** Writes a copy of one moment to a file that does not exist yet. */
  backup(file: string): Promise<void>;

  close(): Promise<void>;
}
