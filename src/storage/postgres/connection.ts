/** A connection to PostgreSQL: prepared statements, transactions, and the checks of its session and its server. */

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { PetstoreError } from '../../error.ts';
import type { Row, SqlValue } from '../engine.ts';
import { explain } from './errors.ts';
import type { Hosts } from './hosts.ts';

/** From the call to its result or its failure. A request makes two calls at most, a replay of a create three. */
export const ANSWER_MS_MAX = 900;
/** Half of it, so that there is time to try a second host. */
export const CONNECT_MS_MAX = ANSWER_MS_MAX / 2;
/**
 * The server ends a statement so long before its call fails: no statement goes on after a 503, and its connection
 * is kept, but for the wait for a synchronous standby, which no limit ends.
 */
const ENDED_MS_BEFORE = 100;
const STATEMENT_MS_MAX = ANSWER_MS_MAX - ENDED_MS_BEFORE;

/** Reads int8 as bigint, and every other type as the driver does. */
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    type === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(type, format),
};

/**
 * What waits for the counter has to see it as it is then, else it is rolled back (40001) for each
 * create that came before. It overrides the database's, the role's and the address's own.
 */
const READ_COMMITTED = String.raw`-c default_transaction_isolation=read\ committed`;

/**
 * Each statement of a request has an index. The plan of a prepared one is kept until its tables are analyzed
 * again, up to a minute later: made while they were empty, it would read all that was added since. To read
 * a whole table then counts as so expensive that it would be compiled, which takes 0.1 s.
 */
const BY_INDEX = '-c enable_seqscan=off -c jit=off';

export type Isolation = 'read committed' | 'repeatable read read only';

/** The events by which the driver reports the end of a connection. */
const END_EVENTS = ['error', 'errorMessage', 'end'];

/** Connects to the current host. */
export class Connection extends pg.Client {
  readonly #statements = new Map<string, { name: string; text: string }>();
  /** A pooler may share one session between connections, so the names of statements differ between them. */
  readonly #prefix = randomUUID();
  readonly #tryNextHost: () => void;
  /** Whether each transaction may get another session, so that nothing can be kept in one. */
  readonly #isPooled: boolean;
  #isInTransaction = false;
  /** Of a statement of the call at hand, when that is less than the session's. */
  #statementMsMax: number | undefined;
  /** When its server last responded, by `performance.now`. */
  lastResponseAt = 0;

  constructor(hosts: Hosts) {
    const config = hosts.current;
    super({
      application_name: 'petstore',
      ...config,
      types: TYPES,
      keepAlive: true,
      ...(hosts.isPooled
        ? { pipeline: true }
        : {
            statement_timeout: STATEMENT_MS_MAX,
            options: `${config.options ?? ''} ${READ_COMMITTED} ${BY_INDEX}`,
          }),
    });
    this.#isPooled = hosts.isPooled;
    this.#tryNextHost = () => hosts.tryNext(config);
    // An end before it is connected means that the host does not accept connections.
    for (const event of END_EVENTS) this.connection.once(event, this.#tryNextHost);
    this.once('connect', () => {
      this.lastResponseAt = performance.now();
      for (const event of END_EVENTS) this.connection.off(event, this.#tryNextHost);
    });
  }

  /** The rows of a statement, which is prepared at its first use. */
  run(sql: string, values: readonly SqlValue[]): Promise<Row[]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      const name = this.#isPooled ? '' : `${this.#prefix}/${this.#statements.size}`;
      statement = { name, text: toText(sql) };
      this.#statements.set(sql, statement);
    }
    const query = () => this.#query(statement, values);
    if (this.#isInTransaction || !this.#hasLimit) return query();
    return this.#isPooled ? this.#runAlone(query) : this.transact('read committed', query);
  }

  /** The time that is left for the next call; a wait for the connection may have taken some of it. */
  limit(ms: number): void {
    const isLate = ms < STATEMENT_MS_MAX + ENDED_MS_BEFORE / 2;
    this.#statementMsMax = isLate ? Math.max(1, Math.floor(ms - ENDED_MS_BEFORE)) : undefined;
  }

  /** Whether a transaction begins with a limit of its own. */
  get #hasLimit(): boolean {
    return this.#isPooled || this.#statementMsMax !== undefined;
  }

  /** Behind a pooler all three are sent at once, in one round trip; after a failure the commit is a rollback. */
  async #runAlone(query: () => Promise<Row[]>): Promise<Row[]> {
    const [, rows] = await Promise.all([
      this.#begin('read committed'),
      query(),
      this.runUnprepared('commit'),
    ]);
    return rows;
  }

  /** The rows of a statement, without preparing it. */
  runUnprepared(sql: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.#query({ text: toText(sql) }, values);
  }

  async #query(statement: pg.QueryConfig, values: readonly SqlValue[]): Promise<Row[]> {
    const query = { ...statement, values: values as SqlValue[], rowMode: 'array' } as const;
    try {
      const { rows } = await this.query<SqlValue[]>(query);
      this.lastResponseAt = performance.now();
      return rows;
    } catch (error) {
      throw explain(error);
    }
  }

  /** The work's result, in one transaction: that which is under way, if there is one. */
  async transact<T>(isolation: Isolation, work: () => Promise<T>): Promise<T> {
    if (this.#isInTransaction) return work();
    await this.#begin(isolation);
    this.#isInTransaction = true;
    try {
      const result = await work();
      await this.runUnprepared('commit');
      return result;
    } catch (error) {
      // When this fails too, the connection has ended, and the server rolls back by itself.
      await this.runUnprepared('rollback').catch(() => undefined);
      throw error;
    } finally {
      this.#isInTransaction = false;
    }
  }

  /** The work's result, in one session: behind a pooler that is one transaction. */
  inSession<T>(work: () => Promise<T>): Promise<T> {
    return this.#isPooled ? this.transact('read committed', work) : work();
  }

  #begin(isolation: Isolation): Promise<Row[]> {
    const ms = this.#statementMsMax ?? STATEMENT_MS_MAX;
    const limit = this.#hasLimit ? `; set local statement_timeout = ${ms}` : '';
    return this.runUnprepared(`begin isolation level ${isolation}${limit}`);
  }

  /** Ends it at once: the calls that wait for an answer fail. */
  abort(): void {
    this.end();
    this.connection.stream.destroy();
  }

  /** @throws PetstoreError `unavailable` when the server takes no writes; the next connection is to the next host then. */
  async checkWritable(): Promise<void> {
    const query = { text: 'show transaction_read_only', query_timeout: CONNECT_MS_MAX };
    const [row] = await this.#query(query, []);
    if (row?.[0] === 'off') return;
    this.#tryNextHost();
    throw new PetstoreError('unavailable', 'the database is read-only');
  }
}

/** The statement with the driver's placeholders: `$1`, `$2`, … */
function toText(sql: string): string {
  let index = 0;
  return sql.replaceAll('?', () => {
    index += 1;
    return `$${index}`;
  });
}
