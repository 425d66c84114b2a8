/** The embedded engine on node:sqlite: opening, waiting for other processes, transactions. No table is named here. */

import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { StatementSync } from 'node:sqlite';
import { PetstoreError } from '../../error.ts';
import { shareTrips } from '../batch-reads.ts';
import type { Database, Row, SqlValue, Statement, Transaction } from '../engine.ts';
import { type Outcome, shareWrites, toRowBytes } from '../group-commit.ts';
import { SETTINGS, SqliteConnection } from './connection.ts';
import { explain, isBusy, isDamage, whenFree } from './errors.ts';
import { checkFile, checkPages, checkSchema, checkVersion, migrate } from './schema.ts';
import { SqliteThread } from './writer.ts';
import { type Write, writeAll } from './writer-thread.ts';

/** Rows that are staged between two turns of the event loop. */
const LOAD_ROWS_AT_ONCE = 1_000;
/** How often a write looks whether the file is still the one that was opened. */
const IDENTITY_MS = 1_000;

/**
 * Opens the database in that file, or one in memory for `:memory:`.
 *
 * @throws PetstoreError `unavailable` when it is not there and not to be made, cannot be opened, is
 *   damaged, of another program or of a newer petstore; the file is untouched then.
 */
export async function openSqlite(
  file: string,
  { create }: { create: boolean },
): Promise<SqliteDatabase> {
  if (file !== ':memory:') {
    if (!create && !existsSync(file)) {
      throw new PetstoreError('unavailable', `there is no database ${file}`);
    }
    checkFile(file);
  }
  let connection: SqliteConnection | undefined;
  try {
    // An absolute path, since SQLite would take `file:…` for a URI with options of its own.
    connection = new SqliteConnection(file === ':memory:' ? file : resolve(file), { timeout: 0 });
    await prepare(connection, file);
    return new SqliteDatabase(connection, file);
  } catch (error) {
    connection?.close();
    throw explain(error, file);
  }
}

async function prepare(connection: SqliteConnection, file: string): Promise<void> {
  await whenFree(() => checkVersion(connection));
  // Of one moment: another process may be making this schema just now.
  await whenFree(() => connection.transact('deferred', () => checkSchema(connection, file)));
  await whenFree(() => checkPages(connection, file));
  await whenFree(() => connection.exec('pragma journal_mode = wal'));
  await whenFree(() => connection.exec(SETTINGS));
  await whenFree(() => connection.transact('immediate', () => migrate(connection, file)));
}

class SqliteDatabase implements Database {
  readonly #connection: SqliteConnection;
  readonly #file: string;
  readonly #dataVersion: StatementSync;
  readonly #identity: string;
  readonly #thread: SqliteThread | undefined;
  readonly #shareWrite = shareWrites((writes: readonly Write[]) => this.#send(writes), toBytes);
  readonly #shareRead = shareTrips((reads: readonly Statement[]) => this.#readAll(reads));
  #lastWrite: Promise<unknown> = Promise.resolve();
  #identifiedAt = 0;
  #loads = 0;
  /** Counts this connection's commits, which `data_version` leaves out. */
  #commits = 0;
  /** What `data_version` said in this turn of the event loop. */
  #turnVersion: number | undefined;

  constructor(connection: SqliteConnection, file: string) {
    this.#connection = connection;
    this.#file = file;
    this.#dataVersion = connection.prepare('pragma data_version');
    this.#identity = findIdentity(file);
    // Nobody but this connection sees what is in memory.
    this.#thread = file === ':memory:' ? undefined : new SqliteThread(resolve(file));
  }

  readonly readVersion = (): number => {
    if (this.#turnVersion === undefined) {
      try {
        this.#turnVersion = Number(this.#dataVersion.get()?.data_version);
      } catch {
        return Number.NaN; // Equal to no other version: the read that follows says what is wrong.
      }
      setImmediate(() => {
        this.#turnVersion = undefined;
      });
    }
    // Both only grow, so the sum is new whenever one of them is.
    return this.#turnVersion + this.#commits;
  };

  toInsert(table: string, columns: readonly string[]): string {
    return `insert into ${table} (${columns}) values (${columns.map(() => '?')}) returning id`;
  }

  createInsert(table: string, columns: readonly string[]): (row: Row) => Promise<bigint> {
    const sql = this.toInsert(table, columns);
    return async (values) => {
      const [rows] = await this.write({ sql, values });
      return rows?.[0]?.[0] as bigint;
    };
  }

  read(sql: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.#shareRead({ sql, values });
  }

  async write(...statements: readonly Statement[]): Promise<Row[][]> {
    this.#checkIdentity();
    const written = this.#shareWrite(statements);
    this.#lastWrite = written.catch(() => undefined);
    return written;
  }

  async load(table: string, columns: readonly string[], rows: AsyncIterable<Row>): Promise<number> {
    // The rows gather in a temporary table, which locks nobody out, and move in one step.
    this.#loads += 1;
    const staged = `temp.staged_${table}_${this.#loads}`;
    try {
      this.#connection.exec(`create table ${staged} (${columns})`);
      const places = columns.map(() => '?');
      const insert = this.#connection.prepare(`insert into ${staged} values (${places})`);
      const stage = (batch: readonly Row[]) =>
        this.#connection.transact('deferred', () => {
          for (const row of batch) insert.run(...row);
        });
      let batch: Row[] = [];
      for await (const row of rows) {
        batch.push(row);
        if (batch.length === LOAD_ROWS_AT_ONCE) {
          stage(batch);
          batch = [];
        }
      }
      stage(batch);
      const move = `insert into ${table} (${columns}) select ${columns} from ${staged} order by rowid`;
      return await this.#attempt(() => {
        this.#commits += 1;
        return Number(this.#connection.prepare(move).run().changes);
      });
    } catch (error) {
      throw explain(error, this.#file);
    } finally {
      this.#connection.exec(`drop table if exists ${staged}`);
    }
  }

  async transact<T>(
    kind: 'snapshot' | 'exclusive',
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    const begin = kind === 'snapshot' ? 'begin deferred' : 'begin immediate';
    try {
      await whenFree(() => this.#connection.exec(begin));
      const result = await work({
        read: async (sql, ...values) => this.#connection.run(sql, values),
        insert: async (table, columns, rows) => {
          const places = columns.map(() => '?');
          const sql = `insert into ${table} (${columns}) values (${places})`;
          for (const row of rows) this.#connection.run(sql, row);
        },
        readLastId: async (table) => {
          const [row] = this.#connection.run('select seq from sqlite_sequence where name = ?', [
            table,
          ]);
          return (row?.[0] ?? 0n) as bigint;
        },
        writeLastId: async (table, id) => {
          this.#connection.run('delete from sqlite_sequence where name = ?', [table]);
          this.#connection.run('insert into sqlite_sequence (name, seq) values (?, ?)', [
            table,
            id,
          ]);
        },
      });
      this.#commits += 1;
      this.#connection.exec('commit');
      return result;
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('rollback');
      throw explain(error, this.#file);
    }
  }

  /** Fills an empty file with a copy of one moment. */
  async copyTo(file: string): Promise<void> {
    try {
      this.#connection.prepare('vacuum into ?').run(file);
    } catch (error) {
      throw isDamage(error) || isBusy(error) ? explain(error, this.#file) : error;
    }
  }

  async check(): Promise<void> {
    await this.#attempt(() => {
      this.#checkIdentity();
      return this.#connection.run('select 1', []);
    });
  }

  async close(): Promise<void> {
    // Trips are in order: after the last, all are done.
    await this.#lastWrite;
    await this.#thread?.close();
    this.#connection.close();
  }

  /** Of one moment. One after the other they take half the time that they take between answers. */
  async #readAll(reads: readonly Statement[]): Promise<(Row[] | Promise<Row[]>)[]> {
    const read = ({ sql, values }: Statement) => this.#connection.run(sql, values);
    try {
      return this.#connection.transact('deferred', () => reads.map(read));
    } catch {
      // One of them cannot be answered, or none just now.
      return reads.map((one) => this.#attempt(() => read(one)));
    }
  }

  async #send(writes: readonly Write[]): Promise<Outcome<Row[][]>[]> {
    try {
      const written = this.#thread
        ? await this.#thread.send(writes)
        : writeAll(this.#connection, writes);
      return written.map((one) =>
        'failure' in one ? { error: explain(toError(one), this.#file) } : { result: one },
      );
    } catch (error) {
      throw explain(error, this.#file);
    } finally {
      // What comes after the answers must see what was written.
      this.#commits += 1;
      this.#turnVersion = undefined;
    }
  }

  /** SQLite goes on in a file that was removed or replaced, and all of that would be lost. */
  #checkIdentity(): void {
    const now = performance.now();
    if (now - this.#identifiedAt < IDENTITY_MS) return;
    if (findIdentity(this.#file) !== this.#identity) {
      throw new PetstoreError(
        'unavailable',
        `the database ${this.#file} was removed or replaced: stop the service and put it back`,
      );
    }
    this.#identifiedAt = now;
  }

  /** The work's result, at once when nobody is in the way. */
  async #attempt<T>(work: () => T): Promise<T> {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw explain(error, this.#file);
    }
    try {
      return await whenFree(work);
    } catch (error) {
      throw explain(error, this.#file);
    }
  }
}

function toBytes(write: Write): number {
  return write.reduce((bytes, { values }) => bytes + toRowBytes(values), 0);
}

function toError({ failure, errcode }: { failure: string; errcode: number | undefined }): Error {
  return Object.assign(new Error(failure), errcode !== undefined && { errcode });
}

/** What tells this file from any other of that name; empty when there is none. */
function findIdentity(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}`;
}
