/** The engine on PostgreSQL: transactions, ids, many rows at once. It names no table but its own `counters`. */

import { randomUUID } from 'node:crypto';
import { Statistics, type StoreStatistics } from '../../store.ts';
import type { Engine, PetQueries, Row, SqlValue, Statement, Transaction } from '../engine.ts';
import type { Connection, Isolation } from './connection.ts';
import { parseHosts } from './hosts.ts';
import { createFindAdded, createPetInsert } from './pet-inserts.ts';
import { createPetQueries } from './pet-queries.ts';
import { ConnectionPool, type PoolConnections } from './pool.ts';
import { recordsOf, toBatches, toInsertFrom, toNumbered, toRecords } from './records.ts';
import { migrate, type Schema } from './schema.ts';

/** Rows that an import sends in one statement. */
const LOAD_ROWS_AT_ONCE = 1_000;

const CONNECTIONS_DEFAULT = 10;
/** Of that many connections one is for writes: creates need only one at a time, for a batch. */
const CONNECTIONS_PER_WRITE = 5;

/** The pools of connections; a write that waits for a lock takes none that a read could use. */
interface Pools {
  readonly reads: ConnectionPool;
  readonly writes: ConnectionPool;
}

export interface PostgresOptions {
  /** Whether the tables are created when there are none. */
  readonly create: boolean;
  /** The most connections at a time. */
  readonly databaseConnections?: number;
}

/**
 * Opens the database at that address.
 *
 * @throws PetstoreError `bad_request` for an address that cannot be parsed, `unavailable` when the
 *   database cannot be reached, or belongs to another program or to a newer petstore with a breaking step.
 */
export async function openPostgres(
  address: string,
  { create, databaseConnections = CONNECTIONS_DEFAULT }: PostgresOptions,
): Promise<Engine> {
  const pools = createPools(address, databaseConnections);
  try {
    const schema = await pools.writes.withoutDeadline((connection) =>
      migrate(connection, { create }),
    );
    // The calls of a start have the deadline of a request, too little for connecting beside other replicas' starts.
    await pools.reads.withoutDeadline(async () => undefined);
    return new PostgresEngine(pools, schema);
  } catch (error) {
    await closeAll(pools);
    throw error;
  }
}

/** A single connection is for both. */
function createPools(address: string, connections: number): Pools {
  const hosts = parseHosts(address);
  const count = Math.max(1, Math.floor(connections / CONNECTIONS_PER_WRITE));
  const writes = new ConnectionPool(hosts, count);
  return {
    writes,
    reads: connections > 1 ? new ConnectionPool(hosts, connections - count) : writes,
  };
}

function listPools({ reads, writes }: Pools): ConnectionPool[] {
  return [...new Set([reads, writes])];
}

async function closeAll(pools: Pools): Promise<void> {
  await Promise.all(listPools(pools).map((pool) => pool.close()));
}

class PostgresEngine implements Engine {
  readonly isNew: boolean;
  readonly isNewer: boolean;
  readonly petQueries: PetQueries;
  readonly #counted = new Statistics();
  readonly insertPet = createPetInsert((...statements) => this.write(...statements), this.#counted);
  readonly findAdded = createFindAdded((sql, ...values) => this.read(sql, ...values));
  readonly skipLocked = 'for update skip locked';
  readonly #pools: Pools;

  constructor(pools: Pools, { isNew, isNewer }: Schema) {
    this.isNew = isNew;
    this.isNewer = isNewer;
    this.#pools = pools;
    this.petQueries = createPetQueries((sql, ...values) => {
      this.#counted.reads += 1;
      return this.read(sql, ...values);
    });
  }

  get statistics(): StoreStatistics {
    const pools = listPools(this.#pools).map(({ connections }) => connections);
    const sum = (state: keyof PoolConnections) =>
      pools.reduce((total, connections) => total + connections[state], 0);
    const connections = {
      used: sum('used'),
      idle: sum('idle'),
      waiting: sum('waiting'),
      broken: sum('broken'),
    };
    return { ...this.#counted, connections };
  }

  check(): Promise<void> {
    return this.#pools.reads.withDeadline((connection) => connection.checkWritable());
  }

  /**
   * The counter's row stays locked until the commit, so no id is visible before a smaller one. A
   * sequence would give its numbers in the order of the requests, not of the commits.
   */
  toInsert(table: string, columns: readonly string[]): string {
    const values = columns.map(() => '?');
    return `with counted as (
        update counters set value = value + 1 where name = '${table}' returning value
      )
      insert into ${table} (id, ${columns}) values ((select value from counted), ${values})
      returning id`;
  }

  read(sql: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.#pools.reads.withDeadline((connection) => connection.run(sql, values));
  }

  write(...statements: readonly Statement[]): Promise<Row[][]> {
    const [only, ...others] = statements;
    // A single statement is a transaction by itself.
    const work =
      only !== undefined && others.length === 0
        ? async (connection: Connection) => [await connection.run(only.sql, only.values)]
        : (connection: Connection) =>
            connection.transact('read committed', () => runAll(connection, statements));
    return this.#pools.writes.withDeadline(work);
  }

  load(table: string, columns: readonly string[], rows: AsyncIterable<Row>): Promise<number> {
    // The rows are staged in a temporary table, numbered by `id`, and moved by one statement. Its name
    // is unique, since a pooler may share one session between clients.
    const stageAndMove = async (connection: Connection) => {
      const staged = `staged_${table}_${randomUUID().replaceAll('-', '')}`;
      const run = <T>(work: () => Promise<T>) => transactLong(connection, 'read committed', work);
      await run(() =>
        connection.runUnprepared(
          `create temporary table ${staged} (like ${table} including defaults)`,
        ),
      );
      try {
        const all = ['id', ...columns];
        const stage = `insert into ${staged} (${all}) select ${all} from ${recordsOf(table)}`;
        let count = 0;
        for await (const batch of toBatches(rows, LOAD_ROWS_AT_ONCE)) {
          const records = toRecords(all, toNumbered(batch, count));
          await run(() => connection.run(stage, [records]));
          count += batch.length;
        }
        const move = toInsertFrom(staged, table, columns);
        await run(() => connection.runUnprepared(move, count, count));
        return count;
      } finally {
        // A connection that broke has dropped its temporary tables already.
        await connection.runUnprepared(`drop table ${staged}`).catch(() => undefined);
      }
    };
    return this.#pools.writes.withoutDeadline((connection) =>
      connection.inSession(() => stageAndMove(connection)),
    );
  }

  async transact<T>(
    kind: 'snapshot' | 'exclusive',
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    const isSnapshot = kind === 'snapshot';
    const isolation = isSnapshot ? 'repeatable read read only' : 'read committed';
    return this.#pools.writes.withoutDeadline((connection) =>
      transactLong(connection, isolation, async () => {
        // Every new pet or key updates `counters`, so locking its rows blocks whoever adds one.
        if (!isSnapshot) await connection.runUnprepared('select from counters for update');
        return work(createTransaction(connection));
      }),
    );
  }

  close(): Promise<void> {
    return closeAll(this.#pools);
  }
}

function createTransaction(connection: Connection): Transaction {
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

/** A transaction whose statements have no time limit. */
function transactLong<T>(
  connection: Connection,
  isolation: Isolation,
  work: () => Promise<T>,
): Promise<T> {
  return connection.transact(isolation, async () => {
    await connection.runUnprepared('set local statement_timeout = 0');
    return work();
  });
}

async function runAll(connection: Connection, statements: readonly Statement[]): Promise<Row[][]> {
  const results: Row[][] = [];
  for (const { sql, values, stopIfEmpty } of statements) {
    const rows = await connection.run(sql, values);
    results.push(rows);
    if (stopIfEmpty && rows.length === 0) break;
  }
  return results;
}
