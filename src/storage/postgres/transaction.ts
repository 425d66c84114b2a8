/** The statements of long work, and many rows as one value: PostgreSQL reads them from JSON as records of a table. */

import type { Row, SqlValue, Transaction } from '../engine.ts';
import type { Connection } from './connection.ts';

/** The statements of long work, in the transaction that is under way on the connection. */
export function createTransaction(connection: Connection): Transaction {
  return {
    read: (sql, ...values) => connection.run(sql, ...values),

    async insert(table, columns, rows) {
      const sql = `insert into ${table} (${columns}) select ${columns} from ${recordsOf(table)}`;
      await connection.run(sql, toRecords(columns, rows));
    },

    async readLastId(table) {
      const sql = 'select value from counters where name = ?';
      const [row] = await connection.run(sql, table);
      return row?.[0] as bigint;
    },

    async writeLastId(table, id) {
      await connection.run('update counters set value = ? where name = ?', id, table);
    },
  };
}

/** SQL for the rows in a value of `toRecords`. */
export function recordsOf(table: string): string {
  return `json_populate_recordset(null::${table}, ?)`;
}

/** The rows as JSON: the value for the `?` of `recordsOf`. */
export function toRecords(columns: readonly string[], rows: readonly Row[]): string {
  const records = rows.map((row) => {
    const members = row.map((value, index) => `"${columns[index]}":${toJson(value)}`);
    return `{${members}}`;
  });
  return `[${records}]`;
}

function toJson(value: SqlValue): string {
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`;
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}
