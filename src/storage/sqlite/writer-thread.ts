/** The thread that writes to SQLite: each message is one transaction and one sync of the disk. */

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { Row, Statement } from '../engine.ts';
import { LIMITS } from '../limits.ts';
import { SETTINGS, SqliteConnection } from './connection.ts';
import { toResultCode } from './errors.ts';

/** Statements that are executed all or not at all. */
export type Write = readonly Statement[];

/** The outcome of a write, as it is sent between threads; an Error would lose its `errcode`. */
export type Written = Row[][] | Failure;

export interface Failure {
  readonly failure: string;
  readonly errcode: number;
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
  if (!isSingle) connection.run('savepoint one', []);
  try {
    const result = connection.runAll(write);
    if (!isSingle) connection.run('release one', []);
    return result;
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
