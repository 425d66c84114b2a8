/** The pool of connections to PostgreSQL: finds a host that works, and runs work with or without a deadline. */

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { StoreStatistics } from '../../store.ts';
import { ANSWER_MS_MAX, CONNECT_MS_MAX, Connection } from './connection.ts';
import { explain, isBroken, isConflict, isReadOnly } from './errors.ts';
import type { Hosts } from './hosts.ts';

/** The time to connect for work without a deadline. */
const LONG_CONNECT_MS_MAX = 5_000;
const IDLE_MS_MAX = 60_000;
const CLOSE_MS_MAX = 1_000;

/** How often work is tried that the database rolled back because of other work. */
const CONFLICT_TRIES_MAX = 5;
const CONFLICT_PAUSE_MS_MAX = 50;

export type PoolConnections = NonNullable<StoreStatistics['connections']>;

export class ConnectionPool {
  readonly #hosts: Hosts;
  readonly #pool: pg.Pool;
  readonly #open = new Set<pg.PoolClient>();
  /** When work began that got no answer: connections without a response since then may be dead too. */
  #silentSince = 0;
  #broken = 0;

  constructor(hosts: Hosts, max: number) {
    this.#hosts = hosts;
    this.#pool = new pg.Pool({
      max,
      Client: class extends Connection {
        constructor() {
          super(hosts);
        }
      },
      connectionTimeoutMillis: CONNECT_MS_MAX,
      idleTimeoutMillis: IDLE_MS_MAX,
      ...(hosts.mustWrite && {
        verify: (client, done) =>
          (client as PooledConnection).checkWritable().then(() => done(), done),
      }),
    });
    // An idle connection that breaks is removed by the pool; without a listener the process would end.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => {
      client.on('error', () => undefined);
      this.#open.add(client);
    });
    this.#pool.on('remove', (client) => this.#open.delete(client));
  }

  get connections(): PoolConnections {
    const { totalCount, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { used: totalCount - idle, idle, waiting, broken: this.#broken };
  }

  /**
   * The result of short work, which fails after ANSWER_MS_MAX; what was sent by then may have been
   * executed. It is retried when the database rolled it back because of other work.
   */
  async withDeadline<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const deadline = performance.now() + ANSWER_MS_MAX;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#runUntil(deadline, work);
      } catch (error) {
        if (!isConflict(error) || tries === CONFLICT_TRIES_MAX) throw error;
        await sleep(Math.random() * CONFLICT_PAUSE_MS_MAX);
      }
    }
  }

  /** The result of work that may take any time, such as an import. */
  async withoutDeadline<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#run(await this.#connect(performance.now() + LONG_CONNECT_MS_MAX), work);
  }

  /** Resolves when all connections are closed; those that do not end by themselves are destroyed. */
  async close(): Promise<void> {
    const timer = setTimeout(() => {
      for (const client of this.#open) client.connection.stream.destroy();
    }, CLOSE_MS_MAX);
    await this.#pool.end();
    clearTimeout(timer);
  }

  async #runUntil<T>(deadline: number, work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#connect(deadline);
    const startedAt = performance.now();
    // Connecting may have taken all of the time, when this process was busy.
    const rest = Math.max(0, deadline - startedAt);
    const timer = setTimeout(() => {
      this.#silentSince = startedAt;
      client.abort();
    }, rest);
    try {
      return await this.#run(client, work, rest);
    } finally {
      clearTimeout(timer);
    }
  }

  async #connect(deadline: number): Promise<PooledConnection> {
    for (let tries = 1; ; ) {
      const startedAt = performance.now();
      try {
        const client = (await this.#pool.connect()) as PooledConnection;
        if (client.lastResponseAt >= this.#silentSince) return client;
        client.release(true);
      } catch (error) {
        const now = performance.now();
        // An error that comes soon is a refusal, and final once every host has refused; a host that is
        // silent may still answer.
        const isFinal = tries >= this.#hosts.count && now < startedAt + CONNECT_MS_MAX / 2;
        const hasTime = now + CONNECT_MS_MAX / 2 < deadline;
        // PgBouncer refuses the startup parameters that are not sent with pgbouncer=true.
        const hint = this.#hosts.isPooled ? '' : ': the address may need pgbouncer=true';
        if (isFinal || !hasTime) throw explain(error, hint);
        tries += 1;
      }
    }
  }

  async #run<T>(
    client: PooledConnection,
    work: (connection: Connection) => Promise<T>,
    ms = ANSWER_MS_MAX,
  ): Promise<T> {
    try {
      client.limit(ms);
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      const isUseless = isBroken(error) || (this.#hosts.mustWrite && isReadOnly(error));
      if (isUseless) this.#broken += 1;
      client.release(isUseless);
      throw error;
    }
  }
}

type PooledConnection = Connection & pg.PoolClient;
