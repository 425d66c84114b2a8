/** Long work in one transaction or session, without a limit of time: a copy, and an import. */

import { randomUUID } from 'node:crypto';
import type { Row, Transaction } from '../engine.ts';
import type { Connection } from './connection.ts';
import { recordsOf, toRecords } from './records.ts';

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

/** The work's result, in a transaction during which no other transaction adds a pet or a key. */
export function transactAlone<T>(
  connection: Connection,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return connection.transact('read committed', async () => {
    // Every new pet or key updates `counters`, so locking its rows blocks whoever adds one.
    await connection.runUnprepared('select from counters for update');
    return work(createTransaction(connection));
  });
}

/**
 * The work's result, as of `transactAlone`, with all rows staged in a temporary table. Behind a pooler several
 * clients may share a session, so the name of the table is unique.
 */
export async function stageRows<T>(
  connection: Connection,
  columns: readonly string[],
  batches: AsyncIterable<readonly Row[]>,
  work: (transaction: Transaction, staged: string) => Promise<T>,
): Promise<T> {
  const staged = `staged_pets_${randomUUID().replaceAll('-', '')}`;
  const { insert } = createTransaction(connection);
  const create = `create temporary table ${staged} (like pets including defaults, place text)`;
  await connection.transact('read committed', () => connection.runUnprepared(create));
  try {
    for await (const batch of batches) {
      await connection.transact('read committed', () => insert(staged, columns, batch));
    }
    return await transactAlone(connection, (transaction) => work(transaction, staged));
  } finally {
    // A broken connection has dropped its temporary tables already.
    await connection.runUnprepared(`drop table ${staged}`).catch(() => undefined);
  }
}
