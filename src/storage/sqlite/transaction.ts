/** The statements of a copy or an import, within the transaction that is under way on the connection. */

import type { SqlValue, Transaction } from '../engine.ts';
import type { SqliteConnection } from './connection.ts';

export function createTransaction(connection: SqliteConnection): Transaction {
  const run = (sql: string, ...values: readonly SqlValue[]) => connection.run(sql, values);
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
