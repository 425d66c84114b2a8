/** Imports, copies and backups: work of any length on SQLite. */

import { resolve } from 'node:path';
import { backup } from 'node:sqlite';
import type { Engine, Session, Transaction } from '../engine.ts';
import { createQueue } from '../queue.ts';
import type { SqliteConnection } from './connection.ts';
import { BUSY, CORRUPT, explain, IOERR_READS, retryWhileBusy, toResultCode } from './errors.ts';
import { finishCopy } from './layout.ts';

export function createLongWork(
  connection: SqliteConnection,
  checkFiles: () => void,
): Pick<Engine, 'longTransaction' | 'inSession' | 'copyTo'> {
  const { file } = connection;
  const statements = createTransaction(connection);
  // All work shares the connection: a rollback of one would take back what another has written.
  const queue = createQueue();

  const transaction: Session['transaction'] = async (kind, work) => {
    const begin = kind === 'snapshot' ? 'begin' : 'begin immediate';
    await retryWhileBusy(file, () => connection.exec(begin));
    try {
      const result = await work(statements);
      if (kind !== 'snapshot') checkFiles();
      connection.exec('commit');
      connection.countCommit();
      return result;
    } catch (error) {
      if (connection.isTransaction) connection.exec('rollback');
      throw explain(error, file);
    }
  };

  const copyTo = async (copy: string) => {
    try {
      // Without a snapshot, SQLite begins the copy again whenever another process writes.
      connection.exec('begin; select 1 from sqlite_schema');
      // SQLite would read a relative path such as `file:x` as a URI.
      await backup(connection, resolve(copy));
      finishCopy(copy, file);
    } catch (error) {
      // Any other error comes from the copy.
      const isOfSource =
        [BUSY, CORRUPT].includes(toResultCode(error)) ||
        IOERR_READS.includes(Object(error).errcode);
      throw isOfSource ? explain(error, file) : error;
    } finally {
      if (connection.isTransaction) connection.exec('rollback');
    }
  };

  return {
    longTransaction: (kind, work) => queue(() => transaction(kind, work)),
    inSession: (work) => queue(() => work({ ...statements, transaction })),
    copyTo: (copy) => queue(() => copyTo(copy)),
  };
}

/** The statements of long work, in the transaction that is under way on the connection. */
function createTransaction(connection: SqliteConnection): Transaction {
  /** The work may use another store too, which must not explain this error as its own. */
  const run: SqliteConnection['run'] = (sql, ...values) => {
    try {
      return connection.run(sql, ...values);
    } catch (error) {
      throw explain(error, connection.file);
    }
  };
  return {
    read: async (sql, ...values) => run(sql, ...values),

    async insert(table, columns, rows) {
      const places = columns.map(() => '?');
      const sql = `insert into ${table} (${columns}) values (${places})`;
      for (const row of rows) run(sql, ...row);
    },

    async readLastId(table) {
      const [row] = run('select seq from sqlite_sequence where name = ?', table);
      return (row?.[0] ?? 0n) as bigint;
    },

    async writeLastId(table, id) {
      run('delete from sqlite_sequence where name = ?', table);
      run('insert into sqlite_sequence (name, seq) values (?, ?)', table, id);
    },
  };
}
