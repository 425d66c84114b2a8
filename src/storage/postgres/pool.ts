/** Connections to PostgreSQL: a pool that finds the right host, and work on one connection within a limit of time. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PetstoreError } from '../../error.ts';
import type { Row, SqlValue } from '../engine.ts';
import { explain, isBroken, isConflict, isReadOnly } from './errors.ts';
import type { Hosts } from './hosts.ts';

/** From the call to its result or its failure; a request makes two calls at most. */
const ANSWER_MS_MAX = 900;
/** Half of it, so that a second host can be tried. */
const CONNECT_MS_MAX = ANSWER_MS_MAX / 2;
/** For the first connection of work that nobody waits for within a request. */
const KEEP_MS_MAX = 5_000;
const IDLE_MS_MAX = 60_000;
const CLOSE_MS_MAX = 1_000;

/** How often work is done that was undone for the sake of other work. */
const CONFLICT_TRIES_MAX = 5;
const CONFLICT_PAUSE_MS_MAX = 50;

/** Whole numbers of 64 bits as bigint, all else as the driver has it. */
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    type === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(type, format),
};

/** What a connection emits when it comes to its end, in the order of the driver's own listeners. */
const END_EVENTS = ['error', 'errorMessage', 'end'];

/** A connection to the host in use that prepares each statement once. */
export class Connection extends pg.Client {
  readonly #statements = new Map<string, { name: string; text: string }>();
  /** Poolers share sessions: a name of one connection must not be another's. */
  readonly #prefix = randomUUID();
  readonly #leaveHost: () => void;
  /** When its server last said something. */
  heardAt = 0;

  constructor(hosts: Hosts) {
    const config = hosts.current;
    super({
      application_name: 'petstore',
      ...config,
      types: TYPES,
      keepAlive: true,
      statement_timeout: ANSWER_MS_MAX,
    });
    this.#leaveHost = () => hosts.leave(config);
    // Until it is connected, its end says that the host is not to be had.
    for (const event of END_EVENTS) this.connection.once(event, this.#leaveHost);
    this.once('connect', () => {
      this.heardAt = performance.now();
      for (const event of END_EVENTS) this.connection.off(event, this.#leaveHost);
    });
  }

  /** The rows of a statement that is used again and again: it is prepared once. */
  run(sql: string, values: readonly SqlValue[]): Promise<Row[]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = { name: `${this.#prefix}/${this.#statements.size}`, text: toText(sql) };
      this.#statements.set(sql, statement);
    }
    return this.#ask(statement, values);
  }

  /** The rows of a statement that is used once. */
  runOnce(sql: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.#ask({ text: toText(sql) }, values);
  }

  async #ask(statement: pg.QueryConfig, values: readonly SqlValue[]): Promise<Row[]> {
    const query = { ...statement, values: values as SqlValue[], rowMode: 'array' } as const;
    try {
      const { rows } = await this.query<SqlValue[]>(query);
      this.heardAt = performance.now();
      return rows;
    } catch (error) {
      throw explain(error);
    }
  }

  /** The work's result, of one transaction. */
  async transact<T>(begin: string, work: () => Promise<T>): Promise<T> {
    await this.runOnce(begin);
    try {
      const result = await work();
      await this.runOnce('commit');
      return result;
    } catch (error) {
      // When this fails too, the connection has come to its end, and the transaction with it.
      await this.runOnce('rollback').catch(() => undefined);
      throw error;
    }
  }

  /** @throws PetstoreError `unavailable` when the server takes no writes; another host is next then. */
  async checkWritable(): Promise<void> {
    const query = { text: 'show transaction_read_only', query_timeout: CONNECT_MS_MAX };
    const [row] = await this.#ask(query, []);
    if (row?.[0] === 'off') return;
    this.#leaveHost();
    throw new PetstoreError('unavailable', 'the database is read-only');
  }
}

export class Connections {
  readonly #hosts: Hosts;
  readonly #pool: pg.Pool;
  readonly #open = new Set<pg.PoolClient>();
  /** When work began that got no answer: who was not heard of since may be dead as well. */
  #silentAt = 0;

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
    // A connection that breaks is missed by its next user, who says so; nobody else has to know.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => {
      client.on('error', () => undefined);
      this.#open.add(client);
    });
    this.#pool.on('remove', (client) => this.#open.delete(client));
  }

  /**
   * The result of short work, which is done again when the database undid it for the sake of other
   * work, and fails once its time is over. What was sent by then may have been done.
   */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const deadline = performance.now() + ANSWER_MS_MAX;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#useUntil(deadline, work);
      } catch (error) {
        if (!isConflict(error) || tries === CONFLICT_TRIES_MAX) throw error;
        await sleep(Math.random() * CONFLICT_PAUSE_MS_MAX);
      }
    }
  }

  /** The result of work that takes what it takes. */
  async keep<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#settle(await this.#connect(performance.now() + KEEP_MS_MAX), work);
  }

  /** Resolves when all connections are closed; those that do not answer are cut off. */
  async close(): Promise<void> {
    const timer = setTimeout(() => {
      for (const client of this.#open) client.connection.stream.destroy();
    }, CLOSE_MS_MAX);
    await this.#pool.end();
    clearTimeout(timer);
  }

  async #useUntil<T>(deadline: number, work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#connect(deadline);
    const startedAt = performance.now();
    // To connect may have taken all of it, when this process was busy.
    const rest = Math.max(0, deadline - startedAt);
    const timer = setTimeout(() => {
      this.#silentAt = startedAt;
      // Ends the connection under the work, which then fails.
      client.end();
    }, rest);
    try {
      return await this.#settle(client, work);
    } finally {
      clearTimeout(timer);
    }
  }

  async #connect(deadline: number): Promise<PooledConnection> {
    for (let tries = 1; ; ) {
      const startedAt = performance.now();
      try {
        const client = (await this.#pool.connect()) as PooledConnection;
        if (client.heardAt >= this.#silentAt) return client;
        client.release(true);
      } catch (error) {
        const now = performance.now();
        // A refusal, which comes soon, is final once every host has given one; silence may end.
        const isFinal = tries >= this.#hosts.count && now < startedAt + CONNECT_MS_MAX / 2;
        const hasTime = now + CONNECT_MS_MAX / 2 < deadline;
        if (isFinal || !hasTime) throw explain(error);
        tries += 1;
      }
    }
  }

  async #settle<T>(
    client: PooledConnection,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(isBroken(error) || (this.#hosts.mustWrite && isReadOnly(error)));
      throw error;
    }
  }
}

type PooledConnection = Connection & pg.PoolClient;

/** The driver's places for the values of a statement. */
function toText(sql: string): string {
  let place = 0;
  return sql.replaceAll('?', () => {
    place += 1;
    return `$${place}`;
  });
}
