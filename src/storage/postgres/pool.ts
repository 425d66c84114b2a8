/** The pools of connections to PostgreSQL. */

import pg from 'pg';
import { Connection, type ConnectionConfig } from './connection.ts';
import { explain, isBroken, READ_ONLY, SILENT, toCode, UNCONFIRMED } from './errors.ts';
import { type Hosts, tryHosts } from './hosts.ts';

/** The part of the connections that is for writes. Each may have a group of creates under way. */
const WRITES_PART = 0.4;
const POOL_IDLE_MS_MAX = 60_000;
const LONG_CONNECT_MS_MAX = 5_000;
const LONG_COMMIT_MS_MAX = 60_000;

/**
 * The server ends a statement after this part of the time of its call. So no statement goes on after a 503, and its
 * connection is kept. Only the wait for a synchronous standby has no limit.
 */
const STATEMENT_PART = 0.8;

/** @property unansweredMax how many connections may wait for the answer to a write beside those in use. */
type PoolConfig = ConnectionConfig & { readonly max: number; readonly unansweredMax?: number };

type PooledConnection = Connection & pg.PoolClient;

/**
 * A write that waits for a lock takes no connection that a read could use.
 *
 * @param count the most connections of reads, writes and `check` together, which have at least one each.
 * @param ms how long a read or a write waits for a connection, and then for each answer.
 * @param startMs how long long work waits for a connection, and for its commit, at most.
 */
export function createPools(hosts: Hosts, count: number, ms: number, startMs = Infinity) {
  const writesMax = Math.max(1, Math.floor(count * WRITES_PART));
  const replaceAll = () => {
    for (const pool of Object.values(pools)) pool.replace();
  };
  const create = (max: number, limits: Partial<PoolConfig> = { query_timeout: ms }) =>
    new Pool(hosts, replaceAll, {
      ...limits,
      max,
      connectionTimeoutMillis: ms,
      statement_timeout: Math.floor(ms * STATEMENT_PART),
      idleTimeoutMillis: POOL_IDLE_MS_MAX,
    });
  const pools = {
    writes: create(writesMax, { answerMs: ms, unansweredMax: count }),
    reads: create(Math.max(1, count - writesMax - 1)),
    // Busy reads and writes must not make the service look as if the database were away.
    check: create(1),
    // For work that may take any time, such as an import; each work has a new connection.
    long: new Pool(hosts, replaceAll, {
      max: 1,
      maxUses: 1,
      connectionTimeoutMillis: Math.min(LONG_CONNECT_MS_MAX, startMs),
      commitMs: Math.min(LONG_COMMIT_MS_MAX, startMs),
    }),
  };
  return pools;
}

export type Pools = ReturnType<typeof createPools>;

export function countConnections(pools: Pools) {
  const sum = { used: 0, idle: 0, waiting: 0, broken: 0 };
  for (const pool of Object.values(pools)) pool.addTo(sum);
  return sum;
}

/**
 * A pool that is replaced when one of its connections falls silent. All pools are replaced when a connection meets a
 * server that takes no more writes: the other connections may be to this server, and would read old pets.
 */
class Pool {
  readonly config: PoolConfig;
  readonly #hosts: Hosts;
  readonly #replaceAll: () => void;
  /**
   * Connections whose write gave no answer. They stay open: for as long as a synchronous standby is silent, the server
   * keeps the session of a connection, also of a connection that has ended.
   */
  readonly #unanswered = new Set<PooledConnection>();
  #current: pg.Pool;
  #broken = 0;

  constructor(hosts: Hosts, replaceAll: () => void, config: PoolConfig) {
    this.config = config;
    this.#hosts = hosts;
    this.#replaceAll = replaceAll;
    this.#current = this.#open();
  }

  addTo(sum: ReturnType<typeof countConnections>): void {
    sum.used += this.#current.totalCount - this.#current.idleCount + this.#unanswered.size;
    sum.idle += this.#current.idleCount;
    sum.waiting += this.#current.waitingCount;
    sum.broken += this.#broken;
  }

  /** The work's result. If the work fails, the server may still have executed what was sent. */
  async run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const pool = this.#current;
    const { query_timeout, answerMs, unansweredMax = Infinity } = this.config;
    if (this.#unanswered.size >= unansweredMax) throw explain(new Error(UNCONFIRMED));
    const ms = query_timeout ?? answerMs ?? Infinity;
    const client = await tryHosts(this.#hosts, () => pool.connect(), ms / 2);
    let isUseless = false;
    try {
      return await work(client as PooledConnection);
    } catch (error) {
      const code = toCode(error);
      isUseless = isBroken(error) || code === READ_ONLY;
      if (isUseless) this.#broken += 1;
      // What an earlier pool meets says nothing of the connections that were opened since.
      if ([SILENT, UNCONFIRMED].includes(code) && pool === this.#current) this.replace();
      if (code === UNCONFIRMED) this.#keep(client as PooledConnection);
      if (code === READ_ONLY && pool === this.#current) this.#replaceAll();
      throw error;
    } finally {
      client.release(isUseless);
    }
  }

  /** Counts the connection until it ends: after its answer, or by the server. A command ends without it. */
  #keep(client: PooledConnection): void {
    this.#unanswered.add(client);
    client.once('end', () => this.#unanswered.delete(client));
    client.unref();
  }

  /** Resolves when no connection is at work. */
  close(): Promise<void> {
    return this.#current.end();
  }

  /** No connection that is open is used again. Connections at work end with their work. */
  replace(): void {
    const suspected = this.#current;
    this.#current = this.#open();
    // This fails if `close` has ended the pool already.
    suspected.end().catch(() => undefined);
  }

  #open(): pg.Pool {
    const hosts = this.#hosts;
    const config = this.config;
    const pool = new pg.Pool({
      ...config,
      Client: class extends Connection {
        constructor() {
          super(hosts, config);
        }
      },
      // An idle connection that is silent never ends; the process must end without it.
      allowExitOnIdle: true,
    });
    // The pool removes an idle connection that breaks; without a listener the process would end.
    return pool.on('error', () => {
      this.#broken += 1;
    });
  }
}
