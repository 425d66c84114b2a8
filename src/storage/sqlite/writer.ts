/** The writer: a thread that writes to SQLite. Each message is one transaction and one sync of the disk. */

import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { PetstoreError } from '../../error.ts';
import type { Row, Statement } from '../engine.ts';
import { STORE_LIMITS } from '../limits.ts';
import { SETTINGS, SqliteConnection } from './connection.ts';
import { toResultCode } from './errors.ts';

/** Statements that are executed all or not at all. */
export type Write = readonly Statement[];

/** The rows of each statement of each write. */
type Written = Row[][][];

export function createWriter(file: string) {
  let thread: Worker | undefined;
  return {
    /** Resolves to what `writeAll` returns. One call at a time. */
    async commit(writes: readonly Write[]): Promise<Written> {
      if (thread === undefined) {
        // The thread starts with the first write; after a failure the next write starts a new one.
        thread = new Worker(new URL(import.meta.url), { workerData: file });
        thread.once('error', () => {
          thread = undefined;
        });
      }
      thread.postMessage(writes);
      const answer = once(thread, 'message').catch((cause: unknown) => {
        if (toResultCode(cause) > 0) throw cause;
        // Not an error of SQLite: the thread may have committed. So the writes must not be tried again.
        throw new PetstoreError('unavailable', 'the writer of the database broke', { cause });
      });
      const [message] = (await answer) as [Written | Error];
      if (!(message instanceof Error)) return message;
      throw Object.assign(message, { errcode: message.cause, cause: undefined });
    },

    async close(): Promise<void> {
      await thread?.terminate();
    },
  };
}

/** Executes all the writes in one transaction. */
export function writeAll(connection: SqliteConnection, writes: readonly Write[]): Written {
  const write = (statements: Write) => {
    const results: Row[][] = [];
    for (const { sql, values } of statements) {
      const rows = connection.run(sql, ...values);
      results.push(rows);
      if (rows.length === 0) break;
    }
    return results;
  };
  return connection.transact('begin immediate', () => writes.map(write));
}

if (!isMainThread) {
  // SQLite may block this thread while it waits for a lock: nothing else runs on it.
  const connection = new SqliteConnection(workerData, STORE_LIMITS.BUSY_MS_MAX.value);
  connection.exec(SETTINGS);
  parentPort?.on('message', (writes: readonly Write[]) => {
    try {
      parentPort?.postMessage(writeAll(connection, writes));
    } catch (error) {
      // Between threads an Error loses its `errcode`, but not its cause.
      parentPort?.postMessage(new Error((error as Error).message, { cause: toResultCode(error) }));
    }
  });
}
