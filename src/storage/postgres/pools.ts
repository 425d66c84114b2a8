/** The pools of a store: a write that waits for a lock takes no connection that a read could use. */

import type { Hosts } from './hosts.ts';
import { ConnectionPool, type PoolConnections } from './pool.ts';

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

export class Pools {
  readonly reads: ConnectionPool;
  readonly writes: ConnectionPool;
  /** For work that may take any time, such as an import; each work has a new connection. */
  readonly long: ConnectionPool;

  /**
   * @param count the most connections of reads and writes together; a single connection is for both.
   * @param ms how long a read or a write waits for a connection, and then for each answer.
   */
  constructor(hosts: Hosts, count: number, ms: number) {
    const create = (max: number) =>
      new ConnectionPool(hosts, {
        max,
        connectionTimeoutMillis: ms,
        query_timeout: ms,
        statement_timeout: ms - ENDED_MS_BEFORE,
        idleTimeoutMillis: POOL_IDLE_MS_MAX,
      });
    const writes = Math.max(1, Math.floor(count / CONNECTIONS_PER_WRITE));
    this.writes = create(writes);
    this.reads = count > 1 ? create(count - writes) : this.writes;
    this.long = new ConnectionPool(hosts, {
      max: 1,
      maxUses: 1,
      connectionTimeoutMillis: LONG_CONNECT_MS_MAX,
    });
  }

  get connections(): PoolConnections {
    const all = this.#all.map(({ connections }) => connections);
    const sum = (name: keyof PoolConnections) => all.reduce((total, each) => total + each[name], 0);
    return { used: sum('used'), idle: sum('idle'), waiting: sum('waiting'), broken: sum('broken') };
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((pool) => pool.close()));
  }

  get #all(): ConnectionPool[] {
    return [...new Set([this.reads, this.writes, this.long])];
  }
}
