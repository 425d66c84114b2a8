/** The pools of connections to PostgreSQL, which find a host that works, and replace silent connections. */

import pg from 'pg';
import { Connection } from './connection.ts';
import { isBroken, READ_ONLY, toCode } from './errors.ts';
import { type Hosts, tryHosts } from './hosts.ts';

/** Creates need only one connection at a time, for a batch. */
const CONNECTIONS_PER_WRITE = 5;

const POOL_IDLE_MS_MAX = 60_000;

/** How long long work waits for a connection to each host. */
const LONG_CONNECT_MS_MAX = 5_000;

/**
 * The server ends a statement so long before its call fails. So no statement goes on after a 503, and its connection
 * is kept. Only the wait for a synchronous standby has no limit.
 */
const ENDED_MS_BEFORE = 100;

/** The timer of the driver may be early by less. A statement that the server ends fails even earlier. */
const EARLY_MS_MAX = 20;

type PooledConnection = Connection & pg.PoolClient;

/**
 * A write that waits for a lock takes no connection that a read could use.
 *
 * @param count the most connections of reads and writes together; a single connection is for both.
 * @param ms how long a read or a write waits for a connection, and then for each answer.
 */
export function createPools(hosts: Hosts, count: number, ms: number) {
  const create = (max: number) =>
    new ConnectionPool(hosts, {
      max,
      connectionTimeoutMillis: ms,
      query_timeout: ms,
      statement_timeout: ms - ENDED_MS_BEFORE,
      idleTimeoutMillis: POOL_IDLE_MS_MAX,
    });
  const max = Math.max(1, Math.floor(count / CONNECTIONS_PER_WRITE));
  const writes = create(max);
  const reads = count > 1 ? create(count - max) : writes;
  // For work that may take any time, such as an import; each work has a new connection.
  const connectionTimeoutMillis = LONG_CONNECT_MS_MAX;
  const long = new ConnectionPool(hosts, { max: 1, maxUses: 1, connectionTimeoutMillis });
  const all = [...new Set([reads, writes, long])];
  return {
    reads,
    writes,
    long,

    countConnections() {
      const sum = { used: 0, idle: 0, waiting: 0, broken: 0 };
      for (const pool of all) pool.addTo(sum);
      return sum;
    },

    async close() {
      await Promise.all(all.map((pool) => pool.close()));
    },
  };
}

export type Pools = ReturnType<typeof createPools>;

class ConnectionPool {
  readonly #hosts: Hosts;
  readonly #config: pg.PoolConfig;
  #pool: pg.Pool;
  #broken = 0;

  /** @param config its `query_timeout` is greater than its `statement_timeout`, or both are absent. */
  constructor(hosts: Hosts, config: pg.PoolConfig) {
    this.#hosts = hosts;
    this.#config = config;
    this.#pool = this.#openPool();
  }

  /** Adds the connections of this pool to the sum of all pools. */
  addTo(sum: { used: number; idle: number; waiting: number; broken: number }): void {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    sum.used += totalCount - idleCount;
    sum.idle += idleCount;
    sum.waiting += waitingCount;
    sum.broken += this.#broken;
  }

  /** The work's result. If the work fails, the server may still have executed what was sent. */
  async run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const pool = this.#pool;
    const { query_timeout: ms = Infinity } = this.#config;
    const connected = await tryHosts(this.#hosts, () => pool.connect(), ms / 2);
    const client = connected as PooledConnection;
    const silentAt = performance.now() + ms - EARLY_MS_MAX;
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      const isUseless = isBroken(error) || (this.#hosts.mustWrite && toCode(error) === READ_ONLY);
      if (isUseless) this.#broken += 1;
      client.release(isUseless);
      const isSilent = isBroken(error) && performance.now() >= silentAt;
      if (isSilent && pool === this.#pool) {
        // The other connections are most likely silent too. Connections at work end with their work.
        this.#pool = this.#openPool();
        // This fails if `close` has ended the pool already.
        pool.end().catch(() => undefined);
      }
      throw error;
    }
  }

  /** Resolves when no connection is at work. */
  async close(): Promise<void> {
    await this.#pool.end();
  }

  #openPool(): pg.Pool {
    const [hosts, config] = [this.#hosts, this.#config];
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
    return pool.on('error', () => {
      this.#broken += 1;
    });
  }
}
