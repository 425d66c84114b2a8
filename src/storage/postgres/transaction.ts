/** Long work in one transaction or session, with as much time as it takes: a copy, and an import. */

import { randomUUID } from 'node:crypto';
import type { Row, SqlValue, Transaction } from '../engine.ts';
import type { Connection } from './connection.ts';
import { recordsOf, toBatches, toRecords } from './records.ts';

/** Rows that an import sends in one statement. */
const LOAD_ROWS_AT_ONCE = 1_000;

export function createTransaction(connection: Connection): Transaction {
  return {
    read: (sql, ...values) => connection.run(sql, values),

    async insert(table, columns, rows) {
      const sql = `insert into ${table} (${columns}) select ${columns} from ${recordsOf(table)}`;
      await connection.run(sql, [toRecords(columns, rows)]);
    },

    async readLastId(table) {
      const sql = 'select value from counters where name = ?';
      const [row] = await connection.runUnprepared(sql, table);
      return row?.[0] as bigint;
    },

    async writeLastId(table, id) {
      await connection.runUnprepared('update counters set value = ? where name = ?', id, table);
    },
  };
}

/**
 * Inserts all rows; resolves to their count. They are staged in a temporary table, numbered by `id`, and
 * moved by one statement. Behind a pooler several clients may share a session: the table's name is unique.
 */
export async function loadRows(
  connection: Connection,
  table: string,
  columns: readonly string[],
  rows: AsyncIterable<Row>,
): Promise<number> {
  const staged = `staged_${table}_${randomUUID().replaceAll('-', '')}`;
  const run = (sql: string, ...values: readonly SqlValue[]) =>
    connection.transact('read committed', () => connection.runUnprepared(sql, ...values));
  await run(`create temporary table ${staged} (like ${table} including defaults)`);
  try {
    const all = ['id', ...columns];
    const stage = `insert into ${staged} (${all}) select ${all} from ${recordsOf(table)}`;
    let count = 0;
    for await (const batch of toBatches(rows, LOAD_ROWS_AT_ONCE)) {
      const numbered = batch.map((row, index) => [count + index + 1, ...row]);
      await run(stage, toRecords(all, numbered));
      count += batch.length;
    }
    const move = `with counted as (
        update counters set value = value + ? where name = '${table}' returning value
      )
      insert into ${table} (id, ${columns})
      select (select value from counted) - ? + id, ${columns} from ${staged} order by id`;
    await run(move, count, count);
    return count;
  } finally {
    // A connection that broke has dropped its temporary tables already.
    await connection.runUnprepared(`drop table ${staged}`).catch(() => undefined);
  }
}
