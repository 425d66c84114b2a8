/** The engine on PostgreSQL: transactions, ids, many rows at once. Which tables there are is not known here. */

import { PetstoreError } from '../../error.ts';
import type { Database, Row, SqlValue, Statement, Transaction } from '../engine.ts';
import { type Outcome, shareWrites, toRowBytes } from '../group-commit.ts';
import { parseHosts } from './hosts.ts';
import { type Connection, Connections } from './pool.ts';
import { migratePostgres } from './schema.ts';

/** Rows that are sent in one statement. */
const LOAD_ROWS_AT_ONCE = 1_000;

const CONNECTIONS_DEFAULT = 10;

export interface PostgresOptions {
  /** Whether its tables are made when there are none. */
  readonly create: boolean;
  /** The most connections at a time. */
  readonly connections?: number;
}

/**
 * Opens the database at that address.
 *
 * @throws PetstoreError `bad_request` for an address that cannot be understood, `unavailable` when
 *   the database cannot be reached or is not a petstore's, or of a newer one.
 */
export async function openPostgres(
  address: string,
  { create, connections = CONNECTIONS_DEFAULT }: PostgresOptions,
): Promise<Database> {
  const database = new PostgresDatabase(new Connections(parseHosts(address), connections));
  try {
    await database.migrate(create);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

class PostgresDatabase implements Database {
  readonly #connections: Connections;
  #loads = 0;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  migrate(create: boolean): Promise<void> {
    return this.#connections.keep((connection) => migratePostgres(connection, { create }));
  }

  check(): Promise<void> {
    return this.#connections.use((connection) => connection.checkWritable());
  }

  /**
   * The counter's row is locked until the commit, so no id can be seen before a smaller one. A
   * sequence of PostgreSQL gives its numbers in the order of asking.
   */
  toInsert(table: string, columns: readonly string[]): string {
    const places = columns.map(() => '?');
    return `with counted as (
        update counters set value = value + 1 where name = '${table}' returning value
      )
      insert into ${table} (id, ${columns}) values ((select value from counted), ${places})
      returning id`;
  }

  createInsert(table: string, columns: readonly string[]): (row: Row) => Promise<bigint> {
    const records = `json_populate_recordset(null::${table}, ?)`;
    const sql = `${toInsertFrom(records, table, columns)} returning id`;
    const insertAll = async (rows: readonly Row[]): Promise<Outcome<bigint>[]> => {
      const values = [rows.length, rows.length, toRecords(['id', ...columns], toNumbered(rows))];
      const [ids = []] = await this.write({ sql, values });
      return ids.map(([id]) => ({ result: id as bigint }));
    };
    return shareWrites(async (rows) => {
      try {
        return await insertAll(rows);
      } catch (error) {
        if (error instanceof PetstoreError) throw error;
        // One of them is bad: the others shall not suffer for it.
        const each = rows.map((row) => insertAll([row]).catch((alone) => [{ error: alone }]));
        return (await Promise.all(each)).flat();
      }
    }, toRowBytes);
  }

  read(sql: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.#connections.use((connection) => connection.run(sql, values));
  }

  write(...statements: readonly Statement[]): Promise<Row[][]> {
    const [only, ...others] = statements;
    // A lone statement is a transaction by itself.
    const work =
      only !== undefined && others.length === 0
        ? async (connection: Connection) => [await connection.run(only.sql, only.values)]
        : (connection: Connection) =>
            connection.transact('begin', () => runAll(connection, statements));
    return this.#connections.use(work);
  }

  load(table: string, columns: readonly string[], rows: AsyncIterable<Row>): Promise<number> {
    return this.#connections.keep(async (connection) => {
      // The rows gather in a temporary table, numbered by `id`, and move in one step.
      this.#loads += 1;
      const staged = `staged_${table}_${this.#loads}`;
      await connection.runOnce(`create temporary table ${staged} (like ${table})`);
      try {
        let count = 0;
        for await (const batch of toBatches(rows)) {
          const rows = toNumbered(batch, count);
          await insertRecords(connection, { into: staged, like: table }, ['id', ...columns], rows);
          count += batch.length;
        }
        const move = toInsertFrom(staged, table, columns);
        await inLongTransaction(connection, 'begin', () => connection.runOnce(move, count, count));
        return count;
      } finally {
        // A connection that broke has dropped it already.
        await connection.runOnce(`drop table ${staged}`).catch(() => undefined);
      }
    });
  }

  transact<T>(
    kind: 'snapshot' | 'exclusive',
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    const isSnapshot = kind === 'snapshot';
    const begin = isSnapshot ? 'begin isolation level repeatable read read only' : 'begin';
    return this.#connections.keep((connection) =>
      inLongTransaction(connection, begin, async () => {
        // Whoever adds must count.
        if (!isSnapshot) await connection.runOnce('select from counters for update');
        return work({
          read: (sql, ...values) => connection.run(sql, values),
          insert: (table, columns, rows) =>
            insertRecords(connection, { into: table, like: table }, columns, rows),
          async readLastId(table) {
            const [row] = await connection.runOnce(
              'select value from counters where name = ?',
              table,
            );
            return row?.[0] as bigint;
          },
          async writeLastId(table, id) {
            await connection.runOnce('update counters set value = ? where name = ?', id, table);
          },
        });
      }),
    );
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}

function inLongTransaction<T>(
  connection: Connection,
  begin: string,
  work: () => Promise<T>,
): Promise<T> {
  return connection.transact(begin, async () => {
    await connection.runOnce('set local statement_timeout = 0');
    return work();
  });
}

async function runAll(connection: Connection, statements: readonly Statement[]): Promise<Row[][]> {
  const results: Row[][] = [];
  for (const { sql, values, isCondition } of statements) {
    const rows = await connection.run(sql, values);
    results.push(rows);
    if (isCondition && rows.length === 0) break;
  }
  return results;
}

/** SQL that moves rows, numbered by `id` from 1, to the end of the table; its two values are their count. */
function toInsertFrom(rows: string, table: string, columns: readonly string[]): string {
  return `with counted as (
      update counters set value = value + ? where name = '${table}' returning value
    )
    insert into ${table} (id, ${columns})
    select (select value from counted) - ? + id, ${columns} from ${rows} order by id`;
}

/** One statement for many rows: the database reads them as records of a table from JSON. */
async function insertRecords(
  connection: Connection,
  { into, like }: { into: string; like: string },
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  await connection.run(
    `insert into ${into} (${columns})
    select ${columns} from json_populate_recordset(null::${like}, ?)`,
    [toRecords(columns, rows)],
  );
}

/** The rows with their numbers, after those that were before, for ids. */
function toNumbered(rows: readonly Row[], before = 0): Row[] {
  return rows.map((row, index) => [before + index + 1, ...row]);
}

function toRecords(columns: readonly string[], rows: readonly Row[]): string {
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

async function* toBatches(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length === LOAD_ROWS_AT_ONCE) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
