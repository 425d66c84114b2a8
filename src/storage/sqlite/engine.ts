/** The engine on node:sqlite: opening, batch reads, group commits by the writer, transactions. */

import { resolve } from 'node:path';
import { backup } from 'node:sqlite';
import { createStatistics } from '../../statistics.ts';
import type { IdempotentRequest } from '../../store.ts';
import { MEMORY_FILE } from '../address.ts';
import { batchReads } from '../batch-reads.ts';
import type { Engine, OpenOptions, Row, SqlValue, Statement } from '../engine.ts';
import { GroupCommit, toRowBytes } from '../group-commit.ts';
import { KEY_COLUMNS, NEW_KEY_COLUMNS } from '../key-store.ts';
import { LIMITS } from '../limits.ts';
import { PET_COLUMNS } from '../pet-row.ts';
import { toPurge } from '../purge.ts';
import { createTransaction, SqliteConnection } from './connection.ts';
import { explain, isBusy, isDamage, retryWhileBusy } from './errors.ts';
import { createFileCheck, prepareFile } from './file.ts';
import { createPetQueries, toInsert } from './pet-queries.ts';
import { finishCopy, prepare } from './schema.ts';
import { SqliteWriter, type Write, writeAll } from './writer.ts';

const INSERT_KEY = `insert into api_keys (${NEW_KEY_COLUMNS})
  values (${NEW_KEY_COLUMNS.map(() => '?')}) returning ${KEY_COLUMNS}`;

/** The table of a load; there is one load at a time. */
const STAGED = 'temp.staged_pets';

/**
 * Opens the database in this file, or in memory for MEMORY_FILE.
 *
 * @throws PetstoreError `unavailable` when the file does not exist and is not to be created, cannot be
 *   opened, is damaged, or belongs to another program or to another release; it is unchanged then.
 */
export async function openSqlite(file: string, options: OpenOptions): Promise<SqliteEngine> {
  const isMemory = file === MEMORY_FILE;
  if (!isMemory) prepareFile(file, options.create ?? false);
  let connection: SqliteConnection | undefined;
  try {
    // SQLite would read a relative path such as `file:x` as a URI with options.
    connection = new SqliteConnection(isMemory ? file : resolve(file), 0);
    const foundSchema = await prepare(connection, file, options);
    return new SqliteEngine(connection, file, foundSchema);
  } catch (error) {
    connection?.close();
    throw explain(error, file);
  }
}

class SqliteEngine implements Engine {
  readonly foundSchema: number;
  readonly statistics = createStatistics();
  readonly insertKey = INSERT_KEY;
  /** There is one writer at a time. */
  readonly purge = toPurge('');
  readonly petQueries = createPetQueries(
    (sql, ...values) => {
      this.statistics.reads += 1;
      return this.read(sql, ...values);
    },
    () => this.#connection.readCommitCounter(),
    this.statistics,
  );
  readonly #connection: SqliteConnection;
  readonly #file: string;
  readonly #checkFiles: () => void;
  readonly #writer: SqliteWriter | undefined;
  readonly #batchedRead = batchReads((reads: readonly Statement[]) => this.#readSlice(reads));
  readonly #writes = new GroupCommit(
    (writes: readonly Write[]) => this.#commit(writes),
    this.statistics,
  );

  constructor(connection: SqliteConnection, file: string, foundSchema: number) {
    this.foundSchema = foundSchema;
    this.#connection = connection;
    this.#file = file;
    this.#checkFiles = createFileCheck(connection, file);
    // The writer has a connection of its own, which would not see a database in memory.
    this.#writer = file === MEMORY_FILE ? undefined : new SqliteWriter(resolve(file));
  }

  read(sql: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.#batchedRead({ sql, values });
  }

  async write(...statements: readonly Statement[]): Promise<Row[][]> {
    this.#checkFiles();
    const bytes = statements.reduce((sum, { values }) => sum + toRowBytes(values), 0);
    return this.#writes.add(statements, bytes);
  }

  async insertPet(row: Row, request?: IdempotentRequest): Promise<bigint | undefined> {
    const [added] = await this.write(...toInsert(row, request));
    return added?.[0]?.[0] as bigint | undefined;
  }

  readonly load: Engine['load'] = async (batches, work) => {
    const { insert } = createTransaction(this.#connection);
    try {
      this.#connection.exec(`create table ${STAGED} (${PET_COLUMNS})`);
      for await (const batch of batches) await insert(STAGED, PET_COLUMNS, batch);
      return await this.transact('exclusive', (transaction) => work(transaction, STAGED));
    } catch (error) {
      throw explain(error, this.#file);
    } finally {
      this.#connection.exec(`drop table if exists ${STAGED}`);
    }
  };

  readonly transact: Engine['transact'] = async (kind, work) => {
    const begin = kind === 'snapshot' ? 'begin' : 'begin immediate';
    await retryWhileBusy(this.#file, () => this.#connection.exec(begin));
    try {
      const result = await work(createTransaction(this.#connection));
      this.#connection.exec('commit');
      this.#connection.countCommit();
      return result;
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('rollback');
      throw explain(error, this.#file);
    }
  };

  async copyTo(file: string): Promise<void> {
    const from = this.#connection;
    try {
      // Without a snapshot, SQLite begins the copy again whenever another process writes.
      from.exec('begin; select 1 from sqlite_schema');
      await backup(from, file);
      finishCopy(file, this.#file);
    } catch (error) {
      throw isDamage(error) || isBusy(error) ? explain(error, this.#file) : error;
    } finally {
      if (from.isTransaction) from.exec('rollback');
    }
  }

  async check(): Promise<void> {
    this.#checkFiles();
  }

  async close(): Promise<void> {
    await this.#writes.drain();
    await this.#writer?.close();
    this.#connection.close();
  }

  /** The first reads, for SLICE_MS_MAX, in one transaction; docs/performance.md has what it saves. */
  #readSlice(reads: readonly Statement[]): (Row[] | Promise<Row[]>)[] {
    const read = ({ sql, values }: Statement) => this.#connection.run(sql, ...values);
    const end = performance.now() + LIMITS.SLICE_MS_MAX;
    try {
      return this.#connection.transact('begin', () => {
        const results: Row[][] = [];
        for (const one of reads) {
          results.push(read(one));
          if (performance.now() >= end) break;
        }
        return results;
      });
    } catch {
      // A read failed, or the database is busy: each read is executed alone, and has its own outcome.
      return reads.map((one) => retryWhileBusy(this.#file, () => read(one)));
    }
  }

  async #commit(writes: readonly Write[]): Promise<Row[][][]> {
    try {
      return this.#writer ? await this.#writer.commit(writes) : writeAll(this.#connection, writes);
    } catch (error) {
      throw explain(error, this.#file);
    } finally {
      // A later read must see what was written. Also after an error something may have been written.
      this.#connection.countCommit();
    }
  }
}
