/** What an engine promises to the rest of `storage/`: SQL, transactions, ids, and its own way to read pets. */

import type { Environment } from '../api-key.ts';
import type { IdempotentRequest, PetStore, Store } from '../store.ts';
import type { StoreOptions } from './options.ts';

/** Integers of 64 bits are read as bigint: a double would round them. */
export type SqlValue = string | bigint | number | Uint8Array | null;

/** In the order of the query's columns. */
export type Row = readonly SqlValue[];

/** SQL that both engines take, with a `?` for each value. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Without `startTimeout`, the opening tries once; without `databaseTimeout`, a command has more time than a request. */
export interface OpenOptions extends Partial<Omit<StoreOptions, 'database'>> {
  readonly create?: boolean;
  /** What happens to an older layout; by default it is refused. `keep` opens the store only for `foundLayout`. */
  readonly olderLayout?: 'migrate' | 'keep' | undefined;
  /** A store whose keys are all of the other environment is refused, and not migrated. */
  readonly environment?: Environment | undefined;
  /** Called with what the operator should know, while the store is opened and while it is open. */
  readonly warn?: (message: string) => void;
  /** Called before the commit of a migration or of new tables. */
  readonly onCommit?: () => void;
  /** Whether nothing is written: then a standby of PostgreSQL will do, if the address names it alone. */
  readonly onlyReads?: boolean;
  /** Whether the store purges idempotency keys. On PostgreSQL the opening checks the rights and the sequences. */
  readonly isServed?: boolean;
}

export type PetQueries = Pick<PetStore, 'find' | 'list' | 'listAsJson'>;

/** Writes, errors and closing are as in Store. */
export interface Engine extends Omit<Store, 'pets' | 'keys' | 'backup' | 'close'> {
  readonly petQueries: PetQueries;

  /** SQL for the id of a new API key. It counts up from 1. */
  readonly newKeyId: string;

  readonly toJsonFunction: 'json_quote' | 'to_json';

  readonly purge: string;

  /** Adds a pet, in a group commit. Resolves to its id, or to undefined when its idempotency key is in use. */
  insertPet(row: Row, request?: IdempotentRequest): Promise<bigint | undefined>;

  read(sql: string, ...values: readonly SqlValue[]): Promise<Row[]>;

  /** The rows of each statement, in one transaction that ends after the first statement without a row. */
  write(...statements: readonly Statement[]): Promise<Row[][]>;

  /**
   * Runs the work in one transaction without a time limit; it is rolled back if the work fails. A `snapshot` reads as of
   * one moment, and may change a temporary table. During an `exclusive` one no other transaction adds a pet or a key.
   * Transactions, sessions and copies queue. On SQLite no other method may be called until it resolves.
   */
  longTransaction<T>(kind: TransactionKind, work: (on: Transaction) => Promise<T>): Promise<T>;

  /** Runs the work in one session, without a time limit. The work drops its temporary tables: the session may go on. */
  inSession<T>(work: (session: Session) => Promise<T>): Promise<T>;

  /** Fills an empty file with a copy of the database, as of one moment, and checks the copy; only on SQLite. */
  readonly copyTo?: (file: string) => Promise<void>;
}

export type TransactionKind = 'snapshot' | 'shared' | 'exclusive';

/** Its `transaction` does not queue. Outside of it, each statement may be a transaction. */
export type Session = Transaction & { readonly transaction: Engine['longTransaction'] };

export interface Transaction extends Pick<Engine, 'read'> {
  insert(table: string, columns: readonly string[], rows: readonly Row[]): Promise<void>;

  /** The greatest id that the table ever had; 0 for none. */
  readLastId(table: string): Promise<bigint>;

  /** The next id of the table is the one after this id. A rollback may leave this so. */
  writeLastId(table: string, id: bigint): Promise<void>;

  /** Takes so many ids in a row, if they are left. Resolves to the id before. Absent if nobody can add pets meanwhile. */
  readonly takeIds?: (count: bigint) => Promise<bigint>;
}
