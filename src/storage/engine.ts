/** What an engine promises to the rest of `storage/`: SQL, transactions, ids, and its own way to read pets. */

import type { IdempotentRequest, OnBackupProgress, PetStore, StoreStatistics } from '../store.ts';

/** Integers of 64 bits are read as bigint: a double would round them. */
export type SqlValue = string | bigint | number | Uint8Array | null;

/** The values of a row, in the order of the query's columns. */
export type Row = readonly SqlValue[];

/** SQL that both engines take, with a `?` for each value. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** When it returns no row, the statements after it are not executed. */
  readonly stopIfEmpty?: boolean;
}

export interface OpenOptions {
  /** Whether a database that does not exist yet is created. */
  readonly create?: boolean;
  /** What happens to an older schema: without a value it is refused; `keep` only tells its number. */
  readonly olderSchema?: 'migrate' | 'keep' | undefined;
  readonly databaseConnections?: number;
  /** The seconds that a request may wait for a connection to PostgreSQL, and for its answer. */
  readonly databaseTimeout?: number;
  /** The seconds for which a database that is away is waited for; without them it is tried once. */
  readonly startTimeout?: number;
  /** Is told what the operator should know while the store is opened, and while it is open. */
  readonly warn?: (message: string) => void;
  /**
   * The clock by which a service purges expired idempotency keys while the store is open. With it, opening the
   * store checks on PostgreSQL what a service needs.
   */
  readonly serviceClock?: () => number;
}

/** The methods of the port that read pets; each engine has queries of its own for them. */
export type PetQueries = Pick<PetStore, 'find' | 'list' | 'listAsJson'>;

/** Every method may throw PetstoreError `unavailable` when the database cannot answer in time. */
export interface Engine {
  /** See the port. One above SCHEMA may hold what this program does not copy. */
  readonly foundSchema: number;

  readonly petQueries: PetQueries;

  readonly statistics: StoreStatistics;

  /** SQL at the end of a select that leaves out the rows which another transaction writes, instead of waiting for it. */
  readonly skipLocked: string;

  /** What is wrong with this time by the database's clock, if anything; absent when it has no clock of its own. */
  readonly findClockError?: (now: number) => Promise<string | undefined>;

  /** Resolves when the database can be reached, and is the one that was opened and, on PostgreSQL, takes writes. */
  check(): Promise<void>;

  /** SQL that inserts a row of these columns and returns its id, which counts up from 1 in the order of commits. */
  toInsert(table: string, columns: readonly string[]): string;

  /**
   * Adds a pet. Resolves to its id once it is on the disk, or to undefined when its idempotency key is
   * in use, and nothing is added. Pets that come together share a transaction; one that the database
   * refuses fails alone.
   */
  insertPet(row: Row, request?: IdempotentRequest): Promise<bigint | undefined>;

  /**
   * The id and the columns of the pet that was added with this idempotency key, nulls when it was
   * removed since, and its JSON when it was added, null unless it was corrected since. Undefined when
   * the key is not in use.
   */
  findAdded(request: IdempotentRequest): Promise<Row | undefined>;

  read(sql: string, ...values: readonly SqlValue[]): Promise<Row[]>;

  /** The rows of each statement, all in one transaction. Resolves once it is on the disk. */
  write(...statements: readonly Statement[]): Promise<Row[][]>;

  /**
   * Stages all the rows, which blocks no other writer, and then does the work in an `exclusive` transaction.
   * They are staged in a temporary table with the columns of `pets`, and `place`, a text.
   */
  load<T>(
    columns: readonly string[],
    batches: AsyncIterable<readonly Row[]>,
    work: (transaction: Transaction, staged: string) => Promise<T>,
  ): Promise<T>;

  /**
   * Runs the work in one transaction without a time limit: a `snapshot` reads as of one moment, an
   * `exclusive` one reads and inserts while no other transaction can add a pet or a key. It is rolled back when the
   * work fails. No other method may be called until it resolves.
   */
  transact<T>(
    kind: 'snapshot' | 'exclusive',
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T>;

  /** Fills an empty file with a copy of the database, as of one moment, and checks it; absent when the engine is not SQLite. */
  readonly copyTo?: (file: string, onProgress: OnBackupProgress) => Promise<void>;

  /** Waits for the writes under way and closes the database. */
  close(): Promise<void>;
}

export interface Transaction {
  read(sql: string, ...values: readonly SqlValue[]): Promise<Row[]>;

  /** Inserts rows with the ids that they have. */
  insert(table: string, columns: readonly string[], rows: readonly Row[]): Promise<void>;

  /** The greatest id that the table ever had; 0 for none. */
  readLastId(table: string): Promise<bigint>;

  /** Makes the next id of the table the one after this. */
  writeLastId(table: string, id: bigint): Promise<void>;
}
