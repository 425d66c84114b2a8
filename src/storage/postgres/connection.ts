/** A connection to PostgreSQL: prepared statements and transactions. */

import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { PetstoreError } from '../../error.ts';
import type { Row, SqlValue, Statement } from '../engine.ts';
import { explain, isBroken, NO_MESSAGE, READ_ONLY, UNCONFIRMED } from './errors.ts';
import { createSocket, type Hosts } from './hosts.ts';

const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.INT8, BigInt);

/** A stricter default of the database would roll back (40001) each create that waited for a key. */
const READ_COMMITTED = String.raw`-c default_transaction_isolation=read\ committed`;

/**
 * A plan that was made for an empty table would read the whole table until the next analyze. With `enable_seqscan` off,
 * such a plan counts as so expensive that PostgreSQL would also compile it, which takes 0.1 s. With `incremental_sort`, a
 * list by two filters would read all pets of the first.
 */
const BY_INDEX = '-c enable_seqscan=off -c enable_incremental_sort=off -c jit=off';

/** Long work may take any time, whatever limits the role has. A transaction that holds locks has a limit of its own. */
const UNLIMITED =
  '-c statement_timeout=0 -c idle_session_timeout=0 -c idle_in_transaction_session_timeout=0';

const KEEP_ALIVE_MS = 10_000;

/**
 * @property answerMs how long a statement waits for its answer; then the connection stays open.
 * @property commitMs the same, only of a commit.
 */
export type ConnectionConfig = pg.PoolConfig & {
  readonly answerMs?: number;
  readonly commitMs?: number;
};

/** Ends a session, unless another client uses it. The time tells that it is a session of this server. */
const END_SESSION = `select pg_terminate_backend(pid) from pg_stat_activity where pid = ?
  and (state = 'idle' or pid = pg_backend_pid()) and cast(pg_postmaster_start_time() as text) = ?`;

type Isolation = 'read committed' | 'repeatable read read only';

export class Connection extends pg.Client {
  readonly #statements = new Map<string, pg.QueryConfig>();
  readonly #socket: Socket;
  readonly #hosts: Hosts;
  readonly #config: ConnectionConfig;
  #isInTransaction = false;
  /** Why the connection ended, if it has. */
  #end: Error | undefined;
  /** When the server of the last transaction started, which tells servers apart. */
  #server: SqlValue | undefined;
  /** The last settled mark that was read from this server; 0 for none. */
  mark = 0n;

  constructor(hosts: Hosts, config: ConnectionConfig) {
    const [host] = hosts.configs;
    const socket = createSocket(config.connectionTimeoutMillis);
    const limits = config.statement_timeout === undefined ? UNLIMITED : '';
    super({
      application_name: 'petstore',
      ...host,
      ...config,
      types: TYPES,
      keepAlive: true,
      // A proxy or a firewall that forgets a silent connection would leave it open here.
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      pipeline: true,
      stream: () => socket,
      ...(hosts.isPooled
        ? { statement_timeout: false }
        : { options: `${host?.options ?? ''} ${READ_COMMITTED} ${BY_INDEX} ${limits}` }),
    });
    this.#socket = socket;
    this.#hosts = hosts;
    this.#config = config;
    // The call under way fails; without a listener the process would also end.
    this.on('error', (error) => {
      this.#end ??= error;
    });
  }

  /**
   * Ends after a first answer: the limit of time to connect also ends the wait for a server that lets in and is silent,
   * and a caller that gives up loses no connection. After a failure the driver would leave the connection open.
   */
  override connect(): Promise<pg.Client>;
  override connect(done: (error: Error | null) => void): void;
  override connect(done?: (error: Error | null) => void): Promise<pg.Client> | undefined {
    if (done === undefined) return super.connect();
    const fail = (error: Error) => {
      this.end(() => undefined);
      done(error);
    };
    super.connect((error: Error | null) => {
      if (error instanceof Error) fail(error);
      else this.checkWritable().then(() => done(null), fail);
    });
    endIfUnreadable(this.#socket);
    // The first byte says whether the server has TLS. Then the driver reads from another stream.
    if (this.ssl) this.#socket.once('data', () => endIfUnreadable(this.connection.stream));
    return undefined;
  }

  unref(): void {
    this.#socket.unref();
  }

  /** The rows of a statement. If it has values, it is prepared at its first use. */
  async run(sql: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    const [rows = []] = await this.runAll({ sql, values });
    return rows;
  }

  /** The rows of each statement, on one server and in one round trip. Each sees what was committed before it began. */
  async runAll(...statements: readonly Statement[]): Promise<Row[][]> {
    const run = () => Promise.all(statements.map(({ sql, values }) => this.#query(sql, values)));
    if (!this.#hosts.isPooled || this.#isInTransaction) return run();
    // After a failure the server answers the commit by a rollback.
    const [, results] = await Promise.all([
      this.#begin('read committed'),
      run(),
      this.#query('commit'),
    ]);
    return results;
  }

  async #query(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      const isPrepared = values.length > 0 && !this.#hosts.isPooled;
      // Connections behind a pooler may share a session, so their names must differ.
      statement = { name: isPrepared ? randomUUID() : '', text: toNumbered(sql) };
      this.#statements.set(sql, statement);
    }
    const query = { ...statement, values: values as SqlValue[], rowMode: 'array' } as const;
    try {
      if (this.#end !== undefined) throw this.#end;
      // The driver has a result for each statement in the text.
      const results = [await this.#wait(this.query<SqlValue[]>(query), sql)].flat();
      return results.at(-1)?.rows ?? [];
    } catch (error) {
      throw explain(this.#end ?? error, this.#hosts.isPooled);
    }
  }

  /** By `query_timeout` of the driver, the connection would end. */
  async #wait<T>(answer: Promise<T>, sql: string): Promise<T> {
    const { answerMs, commitMs = answerMs } = this.#config;
    const ms = sql === 'commit' ? commitMs : answerMs;
    if (ms === undefined) return answer;
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      // A later statement would wait behind this one.
      this.#end ??= new Error(UNCONFIRMED);
      reject(this.#end);
    }, ms);
    return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
  }

  /** The work's result, in one transaction: the transaction under way, if there is one. */
  async inTransaction<T>(isolation: Isolation, work: () => Promise<T>): Promise<T> {
    if (this.#isInTransaction) return work();
    await this.#begin(isolation);
    this.#isInTransaction = true;
    try {
      const result = await work();
      await this.commit(() => this.run('commit'));
      return result;
    } catch (error) {
      // Without a connection, the server rolls back.
      if (!isBroken(error)) await this.run('rollback').catch(() => undefined);
      throw error;
    } finally {
      this.#isInTransaction = false;
    }
  }

  /** The result of a statement that commits. If the connection breaks meanwhile, the server may have committed. */
  async commit<T>(statement: () => Promise<T>): Promise<T> {
    const isSent = this.#end === undefined;
    try {
      return await statement();
    } catch (error) {
      if (error instanceof PetstoreError) error.isUnsure = isSent && isBroken(error);
      throw error;
    }
  }

  /** The work's result, in one session; behind a pooler only a transaction keeps its session. */
  inSession<T>(work: () => Promise<T>): Promise<T> {
    return this.#hosts.isPooled ? this.inTransaction('read committed', work) : work();
  }

  async #begin(isolation: Isolation): Promise<void> {
    const [row] = await this.#query(`begin isolation level ${isolation}; select
      cast(pg_postmaster_start_time() as text), set_config('statement_timeout', '${this.#config.statement_timeout || 0}', true),
      current_setting('transaction_read_only'), pg_backend_pid()`);
    // Behind a pooler this may be another server than before, where other ids are taken, or which takes no writes.
    if (row?.[0] !== this.#server) this.mark = 0n;
    this.#server = row?.[0];
    if (!this.#hosts.mustWrite || isolation !== 'read committed' || row?.[2] === 'off') return;
    if (this.#hosts.isPooled && row !== undefined) await this.#endSession(row);
    refuseReadOnly();
  }

  /** The pooler would keep a session that began read-only, for an hour after its server takes writes again. */
  async #endSession([server = null, , , pid = null]: Row): Promise<void> {
    // The session of this statement may be another one, or the session that ends.
    await this.#query(END_SESSION, [pid, server]).catch(() => undefined);
  }

  /** @throws PetstoreError `unavailable` when the server takes no writes, but must. */
  async checkWritable(): Promise<void> {
    const [row] = await this.run('show transaction_read_only');
    if (!this.#hosts.mustWrite || row?.[0] === 'off') return;
    // A pooler that is not known keeps no session that is in a transaction.
    await this.run('begin');
    refuseReadOnly();
  }
}

/** Ends a stream when the driver cannot read what the server sent: its error would end the process. */
function endIfUnreadable(stream: Duplex): void {
  const emit = stream.emit.bind(stream);
  stream.emit = (event: string | symbol, ...values: unknown[]) => {
    try {
      return emit(event, ...values);
    } catch (cause) {
      if (event !== 'data') throw cause;
      stream.destroy(new Error(NO_MESSAGE, { cause }));
      return true;
    }
  };
}

function refuseReadOnly(): never {
  const error = new pg.DatabaseError('read-only', 0, 'error');
  throw explain(Object.assign(error, { code: READ_ONLY }));
}

/** The statement with the driver's placeholders: `$1`, `$2`, … */
function toNumbered(sql: string): string {
  return sql.split('?').reduce((text, part, number) => `${text}$${number}${part}`);
}
