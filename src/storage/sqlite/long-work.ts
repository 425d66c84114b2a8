/** Imports, copies and backups: work of any length on SQLite. */

import { backup } from 'node:sqlite';
import type { Engine, Transaction } from '../engine.ts';
import { PET_COLUMNS } from '../pet-row.ts';
import type { SqliteConnection } from './connection.ts';
import { BUSY, CORRUPT, explain, retryWhileBusy, toResultCode } from './errors.ts';
import { finishCopy } from './schema.ts';

/** The table of a load; there is one load at a time. */
const STAGED = 'temp.staged_pets';

export function createLongWork(
  connection: SqliteConnection,
): Pick<Engine, 'load' | 'transact' | 'copyTo'> {
  const { file } = connection;
  const transaction = createTransaction(connection);

  const transact: Engine['transact'] = async (kind, work) => {
    const begin = kind === 'snapshot' ? 'begin' : 'begin immediate';
    await retryWhileBusy(file, () => connection.exec(begin));
    try {
      const result = await work(transaction);
      connection.exec('commit');
      connection.countCommit();
      return result;
    } catch (error) {
      if (connection.isTransaction) connection.exec('rollback');
      throw explain(error, file);
    }
  };

  return {
    transact,

    async load(getKind, batches, work) {
      try {
        connection.exec(`create table ${STAGED} (${PET_COLUMNS})`);
        for await (const batch of batches) await transaction.insert(STAGED, PET_COLUMNS, batch);
        return await transact(getKind(), () => work(transaction, STAGED));
      } catch (error) {
        throw explain(error, file);
      } finally {
        connection.exec(`drop table if exists ${STAGED}`);
      }
    },

    async copyTo(copy) {
      try {
        // Without a snapshot, SQLite begins the copy again whenever another process writes.
        connection.exec('begin; select 1 from sqlite_schema');
        await backup(connection, copy);
        finishCopy(copy, file);
      } catch (error) {
        // Any other error comes from the copy.
        throw [BUSY, CORRUPT].includes(toResultCode(error)) ? explain(error, file) : error;
      } finally {
        if (connection.isTransaction) connection.exec('rollback');
      }
    },
  };
}

/** The statements of long work, in the transaction that is under way on the connection. */
function createTransaction(connection: SqliteConnection): Transaction {
  return {
    read: async (sql, ...values) => connection.run(sql, ...values),

    async insert(table, columns, rows) {
      const places = columns.map(() => '?');
      const sql = `insert into ${table} (${columns}) values (${places})`;
      for (const row of rows) connection.run(sql, ...row);
    },

    async readLastId(table) {
      const [row] = connection.run('select seq from sqlite_sequence where name = ?', table);
      return (row?.[0] ?? 0n) as bigint;
    },

    async writeLastId(table, id) {
      connection.run('delete from sqlite_sequence where name = ?', table);
      connection.run('insert into sqlite_sequence (name, seq) values (?, ?)', table, id);
    },
  };
}
