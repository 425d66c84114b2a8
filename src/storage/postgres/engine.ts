/** The engine on PostgreSQL: connections, transactions and ids. */

import { createStatistics } from '../../statistics.ts';
import type { Engine, OpenOptions, Row, Statement } from '../engine.ts';
import { KEY_COLUMNS, NEW_KEY_COLUMNS } from '../key-store.ts';
import { STORE_OPTIONS } from '../options.ts';
import { toPurge } from '../purge.ts';
import type { Connection } from './connection.ts';
import { parseHosts } from './hosts.ts';
import { createPetInsert } from './pet-inserts.ts';
import { createPetQueries } from './pet-queries.ts';
import { createPools, type Pools } from './pool.ts';
import { migrate } from './schema.ts';
import { checkService, findClockError, waitWhileAway } from './start.ts';
import { stageRows, transactLong } from './transaction.ts';

const COMMAND_SECONDS_MAX = 5;

/** Unlike a sequence, the row of the counter stays locked until the commit, so no id is visible before a smaller id. */
const INSERT_KEY = `with counted as (
    update counters set value = value + 1 where name = 'api_keys' returning value
  )
  insert into api_keys (id, ${NEW_KEY_COLUMNS})
  values ((select value from counted), ${NEW_KEY_COLUMNS.map(() => '?')}) returning ${KEY_COLUMNS}`;

/**
 * @throws PetstoreError `bad_request` for an address that cannot be parsed, `unavailable` when the database cannot be
 *   reached, or cannot be used as it is.
 */
export async function openPostgres(address: string, options: OpenOptions): Promise<Engine> {
  const {
    serviceClock,
    databaseConnections = STORE_OPTIONS.databaseConnections.default,
    databaseTimeout = COMMAND_SECONDS_MAX,
  } = options;
  const ms = Math.round(databaseTimeout * 1_000);
  const hosts = parseHosts(address);
  const pools = createPools(hosts, databaseConnections, ms);
  const foundSchema = await waitWhileAway(hosts, options, () =>
    pools.long.run(async (connection) => {
      if (serviceClock) await checkService(connection, serviceClock);
      return migrate(connection, address, options);
    }),
  );
  return { ...createEngine(pools, foundSchema, ms), connectionsMax: databaseConnections };
}

function createEngine(pools: Pools, foundSchema: number, answerMs: number): Engine {
  const statistics = createStatistics();

  const read: Engine['read'] = (sql, ...values) =>
    pools.reads.run((connection) => connection.run(sql, ...values));

  const write: Engine['write'] = (...statements) =>
    pools.writes.run((connection) => writeAll(connection, statements));

  return {
    foundSchema,
    statistics,
    insertKey: INSERT_KEY,
    toJsonFunction: 'to_json',
    purge: toPurge('for update skip locked'),
    read,
    write,
    insertPet: createPetInsert(write, statistics, answerMs),
    petQueries: createPetQueries((sql, ...values) => {
      statistics.reads += 1;
      return read(sql, ...values);
    }),
    ...createLongWork(pools),
    check: () => pools.reads.run((connection) => connection.checkWritable()),
    findClockError: (now) => pools.writes.run((connection) => findClockError(connection, now)),
    countConnections: () => pools.countConnections(),
    [Symbol.asyncDispose]: () => pools.close(),
  };
}

function writeAll(connection: Connection, statements: readonly Statement[]): Promise<Row[][]> {
  const run = async () => {
    const results: Row[][] = [];
    for (const { sql, values, stopIfEmpty } of statements) {
      const rows = await connection.run(sql, ...values);
      results.push(rows);
      if (stopIfEmpty && rows.length === 0) break;
    }
    return results;
  };
  // A single statement is a transaction by itself.
  return statements.length === 1 ? run() : connection.transact('read committed', run);
}

function createLongWork({ long }: Pools): Pick<Engine, 'load' | 'transact'> {
  return {
    load: (kind, batches, work) =>
      long.run((connection) =>
        connection.inSession(() => stageRows(connection, kind, batches, work)),
      ),

    transact: (kind, work) => long.run((connection) => transactLong(connection, kind, work)),
  };
}
