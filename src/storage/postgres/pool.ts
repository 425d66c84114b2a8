/** A pool of connections to PostgreSQL, which finds a host that works, and replaces silent connections. */

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { StoreStatistics } from '../../store.ts';
import { Connection } from './connection.ts';
import { findState, isBroken, isConflict, READ_ONLY } from './errors.ts';
import { type Hosts, tryHosts } from './hosts.ts';

/** How often work is tried that the database rolls back because of other work. */
const CONFLICT_TRIES_MAX = 5;
const CONFLICT_PAUSE_MS_MAX = 50;

/** The timer of the driver may be early by less. A statement that the server ends fails even earlier. */
const EARLY_MS_MAX = 20;

export type PoolConnections = NonNullable<StoreStatistics['connections']>;

type PooledConnection = Connection & pg.PoolClient;

export class ConnectionPool {
  readonly #hosts: Hosts;
  readonly #config: pg.PoolConfig;
  readonly #answerMsMax: number;
  #pool: pg.Pool;
  #broken = 0;

  /** @param config its `query_timeout` is greater than its `statement_timeout`, or both are absent. */
  constructor(hosts: Hosts, config: pg.PoolConfig) {
    this.#hosts = hosts;
    this.#config = config;
    this.#answerMsMax = config.query_timeout ?? Infinity;
    this.#pool = this.#openPool();
  }

  get connections(): PoolConnections {
    const { totalCount, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { used: totalCount - idle, idle, waiting, broken: this.#broken };
  }

  /** The work's result. If the work fails, the server may still have executed what was sent. */
  async run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const pool = this.#pool;
    const client = (await tryHosts(
      this.#hosts,
      () => pool.connect(),
      this.#answerMsMax / 2,
    )) as PooledConnection;
    const silentAt = performance.now() + this.#answerMsMax - EARLY_MS_MAX;
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      const isUseless =
        isBroken(error) || (this.#hosts.mustWrite && findState(error) === READ_ONLY);
      if (isUseless) this.#broken += 1;
      client.release(isUseless);
      if (isBroken(error) && performance.now() >= silentAt) this.#replace(pool);
      throw error;
    }
  }

  /** Resolves when no connection is at work. */
  async close(): Promise<void> {
    await this.#pool.end();
  }

  /** The other connections of the pool are most likely silent too. Connections at work end with their work. */
  #replace(silent: pg.Pool): void {
    if (silent !== this.#pool) return;
    this.#pool = this.#openPool();
    // This fails if `close` has ended the pool already.
    silent.end().catch(() => undefined);
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

export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || tries === CONFLICT_TRIES_MAX) throw error;
      await sleep(Math.random() * CONFLICT_PAUSE_MS_MAX);
    }
  }
}
