/** The statements of long work, and many rows as one value, in JSON. */

import { INT64_MAX } from '../../int64.ts';
import type { Row, Session, SqlValue, Transaction, TransactionKind } from '../engine.ts';
import type { Connection } from './connection.ts';
import { ADD_ALONE, ANNOUNCE_BLOCK, TAKE_IDS_ALONE, toLastId } from './settled-mark.ts';

/** The time in milliseconds since 1970, by the clock of the server: the clocks of services may differ. */
export const NOW = 'cast(extract(epoch from now()) * 1000 as bigint)';

/** Longer than a create takes. Later creates wait behind the lock. */
const LOCK_SECONDS_MAX = 5;
/** A client that sends no statement, or takes no answer, would hold its locks for ever: it is stopped, or its host lost. */
const END_IF_SILENT =
  "set local idle_in_transaction_session_timeout = '10s'; set local tcp_user_timeout = '10s'";
/** A client that is gone would hold its locks until its statement ends. Other systems may refuse this setting. */
const END_IF_GONE =
  "select set_config('client_connection_check_interval', '2s', true) where version() ~ 'linux'";
const LIMIT_WAITS = `set local lock_timeout = '${LOCK_SECONDS_MAX}s'`;

/** The statements of long work, in the transaction that is under way, if there is one. */
export function createSession(connection: Connection): Session {
  return {
    transaction: (kind, work) => transactionOn(connection, kind, work),
    read(sql, ...values) {
      const run = () => connection.run(sql, ...values);
      // Only an explicit commit has a limit, if a synchronous standby is silent.
      const commits = /^(?:create|drop) /.test(sql);
      return commits ? connection.inTransaction('read committed', run) : run();
    },

    async insert(table, columns, rows) {
      const records = `json_populate_recordset(null::${table}, ?)`;
      const sql = `insert into ${table} (${columns}) select ${columns} from ${records}`;
      await connection.run(sql, toRecords(columns, rows));
    },

    async readLastId(table) {
      const [row] = await connection.run(toLastId(table));
      return row?.[0] as bigint;
    },

    async writeLastId(table, id) {
      const sql = `select setval('${table}_id', greatest(?, cast(1 as bigint)), ? > cast(0 as bigint))`;
      await connection.run(sql, id, id);
    },

    async takeIds(count) {
      await connection.run(`${LIMIT_WAITS}; ${ANNOUNCE_BLOCK}`);
      await connection.run(`savepoint ids; ${TAKE_IDS_ALONE}`);
      const [row] = await connection.run(
        `select last, case when ? between 1 and ${INT64_MAX} - last then setval('pets_id', last + ?) end
          from (${toLastId('pets')}) as taken`,
        count,
        count,
      );
      // Creates go on. The ids stay taken.
      await connection.run('rollback to savepoint ids');
      return row?.[0] as bigint;
    },
  };
}

/** The work's result, in a transaction of long work: the transaction under way, if there is one. */
export function transactionOn<T>(
  connection: Connection,
  kind: TransactionKind,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const isolation = kind === 'snapshot' ? 'repeatable read read only' : 'read committed';
  return connection.inTransaction(isolation, async () => {
    if (kind !== 'snapshot') await connection.run(`${END_IF_SILENT}; ${END_IF_GONE}`);
    if (kind === 'exclusive') {
      await connection.run(`${LIMIT_WAITS}; ${ADD_ALONE}`);
      await connection.run('lock table api_keys in share row exclusive mode');
    }
    return work(createSession(connection));
  });
}

/** The rows as a JSON array of records. A row may be shorter than the columns. */
export function toRecords(columns: readonly string[], rows: readonly Row[]): string {
  const records = rows.map((row) => {
    const members = row.map((value, index) => `"${columns[index]}":${toRecordValue(value)}`);
    return `{${members}}`;
  });
  return `[${records}]`;
}

function toRecordValue(value: SqlValue): string {
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`;
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}
