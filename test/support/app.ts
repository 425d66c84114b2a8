/** The service in this process, on a real database, listening on a free port. */

import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { createApiKey, type NewApiKey } from '../../src/api-key.ts';
import { type AppOptions, createApp } from '../../src/http/app.ts';
import { createLog } from '../../src/service/open-log.ts';
import { openStore } from '../../src/storage/open.ts';
import { RIGHTS } from '../../src/storage/tables.ts';
import type { Store } from '../../src/store.ts';
import { createTestDatabase, NO_SESSIONS, PATIENT } from './postgres.ts';
import { queryOnce } from './postgres-cluster.ts';
import { createFile } from './sqlite.ts';

export interface TestApp extends AsyncDisposable {
  readonly app: FastifyInstance;
  readonly store: Store;
  /** A key that opens it, and the header that carries it. */
  readonly key: string;
  readonly authorization: { readonly authorization: string };
  readonly port: number;
  /** That of the store, when this made it. */
  readonly address: string;
  /** The lines that it logged so far. */
  readonly log: readonly Record<string, unknown>[];
}

/** Starts it, on the engine in TEST_ENGINE; `await using` stops it. A store of the options stays open. */
export async function startTestApp(options: Partial<AppOptions> = {}): Promise<TestApp> {
  await using stack = new AsyncDisposableStack();
  const address =
    process.env.TEST_ENGINE === 'postgresql'
      ? stack.use(await createTestDatabase()).address
      : `sqlite:${createFile()}`;
  const store = options.store ?? stack.use(await openOwn(address));
  const log: Record<string, unknown>[] = [];
  const environment = options.environment ?? 'staging';
  const app = await createApp({
    store,
    log: createLog('info', (line) => log.push(JSON.parse(line))),
    environment,
    corsOrigin: ['*'],
    rehearse: false,
    retireGetPet: false,
    ...options,
  });
  stack.defer(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const key = await addKey(store, { environment });
  const opened = stack.move();
  return {
    app,
    store,
    key,
    address,
    authorization: { authorization: `Bearer ${key}` },
    port: (app.server.address() as AddressInfo).port,
    log,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const ROLE = 'petstore_test_service';
const CREATE_ROLE = `do $$ begin create role ${ROLE}; exception when duplicate_object or unique_violation then end $$`;

/** On a server with roles, the store has only the rights that a service needs. */
async function openOwn(address: string): Promise<Store> {
  const store = await openStore(address, { create: true, ...PATIENT });
  if (address.startsWith('sqlite') || NO_SESSIONS || process.env.TEST_PGBOUNCER) return store;
  await store.close();
  const grants = RIGHTS.map(([table, rights]) => `${rights} on ${table}`);
  const all = ['usage on schema public', ...grants].map((grant) => `grant ${grant} to ${ROLE}`);
  await queryOnce(address, [CREATE_ROLE, ...all].join(';'));
  return openStore(`${address}?options=-c%20role=${ROLE}`, PATIENT);
}

/** Adds a new key to the store, and returns its text. */
export async function addKey(
  store: Store,
  given: Pick<NewApiKey, 'environment' | 'expiresAt' | 'isReadOnly'>,
): Promise<string> {
  const { text, newKey } = createApiKey({ name: 'test', ...given }, Date.now());
  await store.keys.add({ ...newKey, ...given });
  return text;
}
