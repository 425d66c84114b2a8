/** The pools of connections to PostgreSQL. */

import pg from 'pg';
import { Connection } from './connection.ts';
import { isBroken, isSilent, READ_ONLY, toCode } from './errors.ts';
import { type Hosts, tryHosts } from './hosts.ts';

/** The part of the connections that is for writes. Each may have a group of creates under way. */
const WRITES_PART = 0.4;
/** So many or more connections include the connection of `check`. */
const CHECK_INCLUDED_MIN = 3;
const POOL_IDLE_MS_MAX = 60_000;
const LONG_CONNECT_MS_MAX = 5_000;

/**
 * The server ends a statement so long before its call fails. So no statement goes on after a 503, and its connection
 * is kept. Only the wait for a synchronous standby has no limit.
 */
const ENDED_MS_BEFORE = 100;

type PooledConnection = Connection & pg.PoolClient;

/**
 * A write that waits for a lock takes no connection that a read could use.
 *
 * @param count the most connections of reads, writes and `check` together; a single connection is for both.
 * @param ms how long a read or a write waits for a connection, and then for each answer.
 */
export function createPools(hosts: Hosts, count: number, ms: number) {
  const counted = { broken: 0, opened: 0 };
  const limits = {
    connectionTimeoutMillis: ms,
    query_timeout: ms,
    statement_timeout: ms - ENDED_MS_BEFORE,
    idleTimeoutMillis: POOL_IDLE_MS_MAX,
  };
  const create = (max: number) => createPool(hosts, { ...limits, max }, counted);
  const shared = count < CHECK_INCLUDED_MIN ? count : count - 1;
  const writesMax = Math.max(1, Math.floor(count * WRITES_PART));
  const writes = create(writesMax);
  const reads = count > 1 ? create(shared - writesMax) : writes;
  // Busy reads and writes must not make the service look as if the database were away.
  const check = create(1);
  // For work that may take any time, such as an import; each work has a new connection.
  const connectionTimeoutMillis = LONG_CONNECT_MS_MAX;
  const long = createPool(hosts, { max: 1, maxUses: 1, connectionTimeoutMillis }, counted);
  const all = [...new Set([reads, writes, check, long])];
  return {
    reads,
    writes,
    writesMax,
    check,
    long,

    countConnections() {
      const sum = { used: 0, idle: 0, waiting: 0, broken: counted.broken };
      for (const pool of all) pool.addTo(sum);
      return sum;
    },

    /** How many connections have been opened so far. */
    countOpened: () => counted.opened,

    async close() {
      await Promise.all(all.map((pool) => pool.close()));
    },
  };
}

export type Pools = ReturnType<typeof createPools>;

interface ConnectionCounts {
  broken: number;
  opened: number;
}

function createPool(hosts: Hosts, config: pg.PoolConfig, counted: ConnectionCounts) {
  const { query_timeout: ms = Infinity } = config;
  let current = openPool(hosts, config, counted);
  return {
    addTo(sum: { used: number; idle: number; waiting: number }): void {
      sum.used += current.totalCount - current.idleCount;
      sum.idle += current.idleCount;
      sum.waiting += current.waitingCount;
    },

    /** The work's result. If the work fails, the server may still have executed what was sent. */
    async run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
      const pool = current;
      const client = await tryHosts(hosts, () => pool.connect(), ms / 2);
      try {
        const result = await work(client as PooledConnection);
        client.release();
        return result;
      } catch (error) {
        const isUseless = isBroken(error) || (hosts.mustWrite && toCode(error) === READ_ONLY);
        if (isUseless) counted.broken += 1;
        client.release(isUseless);
        if (isSilent(error) && pool === current) {
          // The other connections are most likely silent too. Connections at work end with their work.
          current = openPool(hosts, config, counted);
          // This fails if `close` has ended the pool already.
          pool.end().catch(() => undefined);
        }
        throw error;
      }
    },

    /** Resolves when no connection is at work. */
    close: () => current.end(),
  };
}

function openPool(hosts: Hosts, config: pg.PoolConfig, counted: ConnectionCounts): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    Client: class extends Connection {
      constructor() {
        super(hosts, config);
      }
    },
    // An idle connection that is silent never ends; the process must end without it.
    allowExitOnIdle: true,
    ...(hosts.mustWrite && {
      verify: (client, done) =>
        (client as PooledConnection).checkWritable().then(() => done(), done),
    }),
  });
  // The pool removes an idle connection that breaks; without a listener the process would end.
  pool.on('error', () => {
    counted.broken += 1;
  });
  return pool.on('connect', () => {
    counted.opened += 1;
  });
}
