/** The writer: a thread that writes to SQLite. Each message is one transaction and one sync of the disk. */

import {
  isMainThread,
  MessageChannel,
  type MessagePort,
  Worker,
  workerData,
} from 'node:worker_threads';
import { unavailable } from '../../error.ts';
import type { Row, Statement } from '../engine.ts';
import { STORE_LIMITS } from '../limits.ts';
import { SETTINGS, SqliteConnection } from './connection.ts';
import { READONLY, toResultCode } from './errors.ts';

/** Statements that are executed all or not at all. */
export type Write = readonly Statement[];

type Written = Row[][][];

export function createWriter(file: string) {
  let thread: Thread | undefined;
  return {
    /** Resolves to what `writeAll` returns. One call at a time. */
    async commit(writes: readonly Write[]): Promise<Written> {
      if (thread === undefined) {
        // The thread starts with the first write; after a failure the next write starts a new one.
        thread = startThread(file);
        thread.worker.once('error', () => {
          thread = undefined;
        });
      }
      const message = await send(thread, writes);
      if (!(message instanceof Error)) return message;
      throw Object.assign(message, { errcode: message.cause, cause: undefined });
    },

    async close(): Promise<void> {
      await thread?.worker.terminate();
    },
  };
}

type Thread = ReturnType<typeof startThread>;

function startThread(file: string) {
  // Not the port of the worker itself: there `node --watch` sends messages of its own.
  const { port1: port, port2 } = new MessageChannel();
  const options = { workerData: { file, port: port2 }, transferList: [port2] };
  return { worker: new Worker(new URL(import.meta.url), options), port };
}

/** The answer of the thread: what it wrote, or an error of SQLite. */
async function send({ worker, port }: Thread, writes: readonly Write[]): Promise<Written | Error> {
  const { promise, resolve, reject } = Promise.withResolvers<Written | Error>();
  port.once('message', resolve);
  worker.once('error', reject);
  port.postMessage(writes);
  try {
    return await promise;
  } catch (cause) {
    if (toResultCode(cause) > 0) throw cause;
    // Not an error of SQLite: the thread may have committed. So the writes must not be tried again.
    const error = unavailable('the writer of the database broke', { cause });
    throw Object.assign(error, { isUnsure: true });
  } finally {
    port.off('message', resolve);
    worker.off('error', reject);
  }
}

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
  const { file, port }: { readonly file: string; readonly port: MessagePort } = workerData;
  // SQLite may block this thread while it waits for a lock: nothing else runs on it.
  const connection = new SqliteConnection(file, STORE_LIMITS.BUSY_MS_MAX.value);
  connection.exec(SETTINGS);
  port.on('message', (writes: readonly Write[]) => {
    try {
      port.postMessage(writeAll(connection, writes));
    } catch (error) {
      // A connection that was opened for reading only stays so. This ends the thread, and the next write opens another.
      if (toResultCode(error) === READONLY) throw error;
      // Between threads an Error loses its `errcode`, but not its cause.
      port.postMessage(new Error((error as Error).message, { cause: Object(error).errcode }));
    }
  });
}
