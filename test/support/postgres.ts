/** Empty PostgreSQL databases for the tests, all on one server. */

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { findPostgresBin, queryOnce, startCluster } from './postgres-cluster.ts';

/** `await using` ends the connections that are left, and empties it. */
export interface TestDatabase extends AsyncDisposable {
  readonly address: string;
}

/** What the address of a PGlite has for a database. */
const PGLITE_DATABASE = 'pglite';

export interface TestServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Emptied in a twentieth of the time that it takes to drop and create a database. */
const EMPTY = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_get_activity(NULL)
    WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND pid <> pg_backend_pid();
  DO $$
    DECLARE name text;
    BEGIN
      FOR name IN SELECT nspname FROM pg_namespace
        WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
      LOOP
        EXECUTE format('DROP SCHEMA %I CASCADE', name);
      END LOOP;
      EXECUTE format('ALTER DATABASE %I RESET ALL', current_database());
    END
  $$;
  CREATE SCHEMA public`;

/** For a store of a test: on PGlite, or on a busy machine, a call may take longer than in production. */
export const PATIENT = { databaseTimeout: 30 };
/** For a test of what happens at the limit of a call; PGlite may take longer, so it needs a server. */
export const LIMITED = { databaseTimeout: 0.9 };

let named = 0;
/** Names of databases that are empty again. */
const empty: string[] = [];
let server: Promise<TestServer> | undefined;

/**
 * An empty database. TEST_POSTGRES names the server, else one is started for this process; it is removed with
 * all its databases when the run ends. TEST_PGBOUNCER names a pooler before it, which the address goes through.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const url = await getServer();
  if (isPglite(url)) return createSchema(url);
  const name = empty.pop() ?? (await createDatabase(url));
  const direct = withDatabase(url, name);
  const pooler = process.env.TEST_PGBOUNCER;
  return {
    address: pooler ? `${withDatabase(pooler, name)}?pgbouncer=true` : direct,
    async [Symbol.asyncDispose]() {
      // The pooler may still take the sessions that this ends for good ones, so the name is not used again.
      if (pooler) await queryOnce(url, `DROP DATABASE ${name} WITH (FORCE)`);
      else {
        await queryOnce(direct, EMPTY);
        empty.push(name);
      }
    },
  };
}

/** The server of the tests, started: PostgreSQL, or PGlite on a machine without it. */
export async function startTestServer(): Promise<TestServer> {
  const bin = findPostgresBin();
  if (bin !== undefined || process.env.TEST_POSTGRES_REQUIRED) {
    process.stderr.write(`The tests of PostgreSQL run on the server in ${bin}.\n`);
    const cluster = await startCluster({ settings: { max_connections: '300' } });
    return { url: cluster.url(), close: async () => cluster[Symbol.asyncDispose]() };
  }
  process.stderr.write('There is no PostgreSQL here: its tests run on PGlite.\n');
  return startPglite();
}

/**
 * Starts PGlite in a thread, which keeps no process alive. Each other database that a client names is a schema,
 * made when it first connects.
 */
async function startPglite(): Promise<TestServer> {
  const worker = new Worker(new URL('./pglite-worker.ts', import.meta.url));
  const [port] = await once(worker, 'message');
  worker.unref();
  const url = `postgres://postgres@127.0.0.1:${port}/${PGLITE_DATABASE}`;
  return { url, close: async () => void (await worker.terminate()) };
}

/** Whether the tests run on PGlite: one session, so that no lock, cancel or timeout is real. */
export function isPglite(url: string): boolean {
  return new URL(url).pathname === `/${PGLITE_DATABASE}`;
}

/** Ends all other sessions of the database, those of a pooler too. Resolves when they have ended. */
export async function endSessions(address: string): Promise<void> {
  const { host } = new URL(await getServer());
  await queryOnce(
    Object.assign(new URL(address), { host }).href,
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  );
}

/** Why a test that ends or changes sessions cannot run; false when it can. For the option `skip` of a test. */
export const NO_SESSIONS =
  (process.env.TEST_POSTGRES
    ? isPglite(process.env.TEST_POSTGRES)
    : findPostgresBin() === undefined) && 'PGlite has one session for all its clients';

async function getServer(): Promise<string> {
  const started = process.env.TEST_POSTGRES;
  if (started) return started;
  server ??= startTestServer();
  return (await server).url;
}

async function createDatabase(url: string): Promise<string> {
  const name = nameNext();
  // Quicker than a copy through the log, which is the default.
  await queryOnce(url, `CREATE DATABASE ${name} TEMPLATE template0 STRATEGY file_copy`);
  return name;
}

function createSchema(url: string): TestDatabase {
  const name = nameNext();
  return {
    address: withDatabase(url, name),
    async [Symbol.asyncDispose]() {
      await queryOnce(url, `DROP SCHEMA IF EXISTS ${name} CASCADE`);
    },
  };
}

function nameNext(): string {
  named += 1;
  return `petstore_test_${process.pid}_${named}`;
}

function withDatabase(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = name;
  return address.href;
}
