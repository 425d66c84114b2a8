/** The writer: a thread that writes to SQLite. Each message is one transaction and one sync of the disk. */

import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { Row, Statement } from '../engine.ts';
import { LIMITS } from '../limits.ts';
import { SETTINGS, SqliteConnection } from './connection.ts';
import { toResultCode } from './errors.ts';

/** Statements that are executed all or not at all. */
export type Write = readonly Statement[];

/** The outcome of a write, as it is sent between threads; an Error would lose its `errcode`. */
type Written = Row[][] | Failure;

export interface Failure {
  readonly failure: string;
  readonly errcode: number;
}

export class SqliteWriter {
  readonly #file: string;
  #thread: Worker | undefined;

  /** @param file an absolute path. */
  constructor(file: string) {
    this.#file = file;
  }

  /** The outcomes of the writes of one transaction, or why the transaction failed. One call at a time. */
  async commit(writes: readonly Write[]): Promise<readonly Written[] | Failure> {
    if (this.#thread === undefined) {
      // The thread starts with the first write; after a failure the next write starts a new one.
      this.#thread = new Worker(new URL(import.meta.url), { workerData: this.#file });
      this.#thread.once('error', () => {
        this.#thread = undefined;
      });
    }
    this.#thread.postMessage(writes);
    const [written] = await once(this.#thread, 'message');
    return written;
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }
}

/** Executes all the writes in one transaction. Only a write that fails is undone. */
export function writeAll(connection: SqliteConnection, writes: readonly Write[]): Written[] {
  return connection.transact('begin immediate', () =>
    writes.map((write) => writeOne(connection, write)),
  );
}

function writeOne(connection: SqliteConnection, write: Write): Written {
  // SQLite undoes a single statement without a savepoint.
  const isSingle = write.length === 1;
  if (!isSingle) connection.run('savepoint one');
  try {
    const results: Row[][] = [];
    for (const { sql, values, stopIfEmpty } of write) {
      const rows = connection.run(sql, ...values);
      results.push(rows);
      if (stopIfEmpty && rows.length === 0) break;
    }
    if (!isSingle) connection.run('release one');
    return results;
  } catch (error) {
    // Some errors, such as a full disk, roll back the whole transaction.
    if (!connection.isTransaction) throw error;
    if (!isSingle) connection.exec('rollback to one; release one');
    return toFailure(error);
  }
}

function toFailure(error: unknown): Failure {
  return { failure: String(error), errcode: toResultCode(error) };
}

if (!isMainThread) {
  // SQLite may block this thread while it waits for a lock: nothing else runs on it.
  const connection = new SqliteConnection(workerData, LIMITS.BUSY_MS_MAX);
  connection.exec(SETTINGS);
  parentPort?.on('message', (writes: readonly Write[]) => {
    let written: readonly Written[] | Failure;
    try {
      written = writeAll(connection, writes);
    } catch (error) {
      written = toFailure(error);
    }
    parentPort?.postMessage(written);
  });
}
