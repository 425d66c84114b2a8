/** The service in this process, on a real database, listening on a free port. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { createApiKey, type NewApiKey } from '../../src/api-key.ts';
import { createApp } from '../../src/http/app.ts';
import type { AppOptions } from '../../src/http/server.ts';
import type { RequestLine } from '../../src/log.ts';
import { createLog } from '../../src/service/open-log.ts';
import { openStore } from '../../src/storage/open.ts';
import { RIGHTS } from '../../src/storage/tables.ts';
import type { Store } from '../../src/store.ts';
import { createTestDatabase, NO_SESSIONS, PATIENT } from './postgres.ts';
import { queryOnce } from './postgres-cluster.ts';
import { createFile } from './sqlite.ts';

export type TestApp = Awaited<ReturnType<typeof startTestApp>>;

/** Starts it, on the engine in TEST_ENGINE; `await using` stops it. A store of the options stays open. */
export async function startTestApp(options: Partial<AppOptions & { store: Store }> = {}) {
  await using stack = new AsyncDisposableStack();
  const address =
    process.env.TEST_ENGINE === 'postgresql'
      ? stack.use(await createTestDatabase()).address
      : `sqlite:${createFile()}`;
  const store = options.store ?? stack.use(await openOwn(address));
  const log: Record<string, unknown>[] = [];
  const environment = options.environment ?? 'staging';
  const undocumented = new Set<string>();
  const app = await createApp({
    store,
    log: createLog('info', (line) => log.push(JSON.parse(line))),
    environment,
    corsOrigin: ['*'],
    rehearse: false,
    retireGetPet: false,
    isStopping: () => false,
    // A rehearsed failure may be any error.
    count: options.rehearse ? undefined : (line) => addUndocumented(undocumented, line),
    ...options,
  });
  stack.defer(async () => {
    app.server.closeAllConnections();
    await app.close();
    assert.deepEqual([...undocumented], [], 'openapi.json lacks these errors of an operation');
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const key = await addKey(store, { environment });
  const opened = stack.move();
  return {
    app,
    store,
    /** That of the store, when this made it. */
    address,
    port: (app.server.address() as AddressInfo).port,
    /** A key that opens it, and the header that carries it. */
    key,
    authorization: { authorization: `Bearer ${key}` },
    /** The lines that it logged so far. */
    log: log as readonly Record<string, unknown>[],
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Starts it for all tests of a file, and stops it behind them. */
export async function startSharedApp(options?: Parameters<typeof startTestApp>[0]) {
  const service = await startTestApp(options);
  after(() => service[Symbol.asyncDispose]());
  return service;
}

const { paths, components } = JSON.parse(
  readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'),
);

/** Adds the operation and the code of its error, if the document does not have this code there. */
function addUndocumented(
  found: Set<string>,
  { method = '', route = '', refusal }: RequestLine,
): void {
  const path = route.replace('/v1', '').replace(/:(\w+)/g, '{$1}');
  const operation = paths[path]?.[method.toLowerCase()];
  if (operation === undefined || refusal === undefined) return;
  const { code } = refusal;
  const described = JSON.stringify(operation, (_name, part) => {
    const [, shared = ''] = /responses\/(\w+)$/.exec(part?.$ref) ?? [];
    return components.responses[shared] ?? part;
  });
  if (!described.includes(`"code":"${code}"`)) found.add(`${method} ${path}: ${code}`);
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
