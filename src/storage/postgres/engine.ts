/** The engine on PostgreSQL: connections, transactions and ids. */

import { createStoreCounts } from '../../store.ts';
import type { Engine, OpenOptions, Row, Statement } from '../engine.ts';
import { STORE_OPTIONS } from '../options.ts';
import { toPurge } from '../purge.ts';
import { createQueue } from '../queue.ts';
import { CHECK_COLUMNS } from '../tables.ts';
import type { Connection } from './connection.ts';
import { toCode } from './errors.ts';
import { checkUser, parseHosts } from './hosts.ts';
import { migrate } from './layout.ts';
import { createPetInsert } from './pet-inserts.ts';
import { createPetQueries } from './pet-queries.ts';
import { countConnections, createPools, type Pools } from './pool.ts';
import { checkIndexes, checkRights, checkSequences, waitWhileAway } from './start.ts';
import { createSession, NOW, transactionOn } from './transaction.ts';

const COMMAND_SECONDS_MAX = 5;

/**
 * @throws PetstoreError `bad_request` for an address that cannot be parsed, `unavailable` when the database cannot be
 *   reached, or cannot be used as it is.
 */
export async function openPostgres(address: string, options: OpenOptions): Promise<Engine> {
  const {
    isServed = false,
    onlyReads,
    olderLayout,
    databaseConnections = STORE_OPTIONS.databaseConnections.default,
    databaseTimeout = COMMAND_SECONDS_MAX,
    startTimeout = 0,
  } = options;
  const ms = Math.round(databaseTimeout * 1_000);
  const hosts = parseHosts(address, onlyReads);
  checkUser(hosts);
  const pools = createPools(hosts, databaseConnections, ms, startTimeout * 1_000 || undefined);
  const foundLayout = await waitWhileAway(options, () =>
    pools.long.run(async (connection) => {
      // A restore makes the indexes before it grants rights.
      if (isServed || options.create) await checkIndexes(connection);
      if (isServed) await checkRights(connection);
      const found = await migrate(connection, address, options);
      if (olderLayout !== 'keep') await connection.run(CHECK_COLUMNS);
      if (isServed) await checkSequences(connection);
      return found;
    }),
  );
  return { ...createEngine(pools), foundLayout, connectionsMax: databaseConnections };
}

function createEngine(pools: Pools): Omit<Engine, 'foundLayout'> {
  const counts = createStoreCounts();
  // A work that waits here does not use up the time for its connection.
  const queue = createQueue();

  const read: Engine['read'] = (sql, ...values) =>
    pools.reads.run((connection) => connection.run(sql, ...values));

  const write: Engine['write'] = (...statements) =>
    pools.writes.run((connection) => writeAll(connection, statements));

  return {
    counts,
    countConnections: () => countConnections(pools),
    // As creates of pets do, it waits while somebody moves the sequence.
    newKeyId:
      "(select nextval('api_keys_id') from pg_advisory_xact_lock_shared(cast(cast('api_keys_id' as regclass) as int), -1))",
    toJsonFunction: 'to_json',
    purge: toPurge(NOW, 'for update skip locked'),
    read,
    write,
    insertPet: createPetInsert(write, counts, pools.writes.config.max),
    petQueries: createPetQueries((work) => {
      counts.reads += 1;
      return pools.reads.run(work);
    }),
    longTransaction: (kind, work) =>
      queue(() => pools.long.run((connection) => transactionOn(connection, kind, work))),
    inSession: (work) =>
      queue(() =>
        pools.long.run((connection) => connection.inSession(() => work(createSession(connection)))),
      ),
    // Idle, the connection may have been ended: only a new one tells whether the database is away.
    check: () =>
      pools.check.run(check).catch((error) => {
        if (!toCode(error).startsWith('57P')) throw error;
        return pools.check.run(check);
      }),
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(pools).map((pool) => pool.close()));
    },
  };
}

async function check(connection: Connection): Promise<void> {
  await connection.checkWritable();
  // Prepared, as the statements of requests are: behind a pooler without pgbouncer=true both fail.
  await connection.run(`${CHECK_COLUMNS} where cast(? as int) = 0`, 0);
}

function writeAll(connection: Connection, statements: readonly Statement[]): Promise<Row[][]> {
  const run = async () => {
    const results: Row[][] = [];
    for (const { sql, values } of statements) {
      const rows = await connection.run(sql, ...values);
      results.push(rows);
      if (rows.length === 0) break;
    }
    return results;
  };
  // A single statement is a transaction by itself.
  return statements.length === 1
    ? connection.commit(run)
    : transactionOn(connection, 'shared', run);
}
