/** The thread that writes to SQLite: each message is one transaction and one sync of the disk, while the other thread reads. */

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { Row, Statement } from '../engine.ts';
import { SETTINGS, SqliteConnection } from './connection.ts';
import { BUSY_MS_MAX, findResultCode } from './errors.ts';

/** Statements that are written together or not at all. */
export type Write = readonly Statement[];

/** What a write came to, as it goes from thread to thread: an error would lose its code. */
export type Written = Row[][] | Failure;

interface Failure {
  readonly failure: string;
  readonly errcode: number | undefined;
}

/** All the writes in one transaction. One that fails leaves no trace, and the others stand. */
export function writeAll(connection: SqliteConnection, writes: readonly Write[]): Written[] {
  return connection.transact('immediate', () => writes.map((write) => writeOne(connection, write)));
}

function writeOne(connection: SqliteConnection, write: Write): Written {
  // A statement by itself needs no savepoint.
  const isAlone = write.length === 1;
  if (!isAlone) connection.run('savepoint one', []);
  try {
    const result = connection.runAll(write);
    if (!isAlone) connection.run('release one', []);
    return result;
  } catch (error) {
    // Some failures, as a full disk, undo the whole transaction.
    if (!connection.isTransaction) throw error;
    if (!isAlone) connection.exec('rollback to one; release one');
    return toFailure(error);
  }
}

function toFailure(error: unknown): Failure {
  return { failure: String(error), errcode: findResultCode(error) };
}

if (!isMainThread) {
  // This thread may wait inside SQLite: nobody else is on it.
  const connection = new SqliteConnection(workerData, { timeout: BUSY_MS_MAX });
  connection.exec(SETTINGS);
  parentPort?.on('message', (writes: readonly Write[]) => {
    let written: readonly Written[];
    try {
      written = writeAll(connection, writes);
    } catch (error) {
      written = writes.map(() => toFailure(error));
    }
    parentPort?.postMessage(written);
  });
}
