/** `/livez`, `/readyz`, and the admin listener. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { PetstoreError } from '../../src/error.ts';
import { ADMIN_CONNECTIONS_MAX, createAdminApp } from '../../src/http/app.ts';
import { createLog } from '../../src/service/open-log.ts';
import { startSharedApp, startTestApp } from '../support/app.ts';
import { endSessions, NO_SESSIONS } from '../support/postgres.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import { assertError, assertJson, send } from '../support/request.ts';
import { openConnection, type RawConnection } from '../support/socket.ts';
import { nextPoll, until } from '../support/until.ts';

const service = await startSharedApp();

for (const path of ['/livez', '/readyz']) {
  test(`GET ${path} › of a running service › answers 200 without a key`, async () => {
    const answer = await send(service.port, { path });
    assertJson(answer, 200);
    assert.equal(answer.body, '{"status":"ok"}');
  });
}

const succeed = ({ resolve }: PromiseWithResolvers<void>) => resolve();
const fail = ({ reject }: PromiseWithResolvers<void>) => reject(new PetstoreError('unavailable'));

for (const [what, end, status, endNext, nextStatus] of [
  ['succeeded', succeed, 200, fail, 503],
  ['failed', fail, 503, succeed, 200],
] as const) {
  test(`GET /readyz › after a check that ${what} › tells it at once, and checks again after a second`, async (t) => {
    const checks: PromiseWithResolvers<void>[] = [];
    const check = () => {
      checks.push(Promise.withResolvers());
      return (checks.at(-1) as PromiseWithResolvers<void>).promise;
    };
    await using app = await startTestApp({ store: { ...service.store, check } });
    // Its sums are exact.
    let now = Math.ceil(performance.now());
    t.mock.method(performance, 'now', () => now);
    const ask = async () => (await send(app.port, { path: '/readyz' })).status;
    const first = ask();
    await until(() => checks.length === 1);
    end(checks[0] as PromiseWithResolvers<void>);
    assert.equal(await first, status);
    assertJson(await send(app.port, { path: '/livez' }), 200);
    now += 999;
    assert.deepEqual([await ask(), checks.length], [status, 1]);
    now += 1;
    assert.deepEqual([await ask(), checks.length], [status, 2]);
    now += 1_000;
    assert.deepEqual([await ask(), checks.length], [status, 2], 'one is running');
    // Now the outcome is too old: who asks waits for the running check.
    now += 1_000;
    const arrived = once(app.app.server, 'request');
    const waiting = ask();
    await arrived;
    await nextPoll();
    endNext(checks[1] as PromiseWithResolvers<void>);
    assert.deepEqual([await waiting, checks.length], [nextStatus, 2]);
    now += 1;
    assert.deepEqual([await ask(), checks.length], [nextStatus, 3]);
  });
}

if (process.env.TEST_ENGINE === 'postgresql') {
  test('GET /readyz › a server that takes no more writes › answers 503, as each read, until it takes writes', {
    skip: NO_SESSIONS,
  }, async () => {
    await using app = await startTestApp();
    const name = new URL(app.address).pathname.slice(1);
    // Read-only sessions may change nothing, the setting itself neither, but in such a transaction.
    const change = (sql: string) =>
      queryOnce(app.address, `begin read write; alter database ${name} ${sql}; commit`);
    const list = { path: '/v1/pets', headers: app.authorization };
    const listing = async () => (await send(app.port, list)).status;
    await change('set default_transaction_read_only = on');
    try {
      await endSessions(app.address);
      await until(async () => (await send(app.port, { path: '/readyz' })).status === 503);
      assert.equal(await listing(), 503);
      assertJson(await send(app.port, { path: '/livez' }), 200);
    } finally {
      await change('reset all');
    }
    await until(async () => (await listing()) === 200);
  });
}

const METRICS = '# TYPE pets gauge\npets 1\n';

const log: Record<string, unknown>[] = [];
let stopping = false;
const admin = await createAdminApp({
  store: service.store,
  log: createLog('info', (line) => log.push(JSON.parse(line))),
  readMetrics: async () => METRICS,
  isStopping: () => stopping,
});
await admin.listen({ host: '127.0.0.1', port: 0 });
const { port } = admin.server.address() as AddressInfo;
after(async () => {
  admin.server.closeAllConnections();
  await admin.close();
});

test('admin listener › GET /metrics › answers the text of Prometheus, and logs its client', async () => {
  const logged = log.length;
  const start = performance.now();
  const { status, headers, body } = await send(port, { path: '/metrics' });
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(body, METRICS);
  const { client, route, ms, keyId } = log[logged] ?? {};
  assert.deepEqual([client, route, keyId], ['127.0.0.1', '/metrics', null]);
  assert.ok(Number(ms) > 0 && Number(ms) < performance.now() - start, String(ms));
});

test('admin listener › /livez and /readyz › are those of the service', async () => {
  for (const path of ['/livez', '/readyz']) assertJson(await send(port, { path }), 200);
  stopping = true;
  const answer = await send(port, { path: '/readyz' });
  assertError(answer, 'unavailable', /^the service cannot answer now/);
  assert.equal(answer.headers.connection, 'close');
  stopping = false;
});

test('admin listener › a request of another kind › is refused as by the service', async () => {
  const answer = await send(port, { method: 'POST', path: '/metrics' });
  assertError(answer, 'method_not_allowed', /GET, HEAD, OPTIONS$/);
  const nothing = 'there is nothing at this path';
  for (const [path, message] of [
    ['/', `${nothing}; metrics are at /metrics`],
    ['/v1/pets', `${nothing}; metrics are at /metrics`],
    ['/metrics/', `${nothing}: it has a slash too many; metrics are at /metrics`],
  ] as const) {
    assertError(await send(port, { path }), 'not_found', new RegExp(`^${message}$`));
  }
});

test('admin listener › one connection more than the bound › closes the one that is idle for longest', async () => {
  const open: RawConnection[] = [];
  for (let count = 0; count <= ADMIN_CONNECTIONS_MAX; count += 1) {
    const connection = openConnection(port);
    open.push(connection);
    await once(connection.socket, 'connect');
  }
  assert.equal(await open[0]?.readToEnd(), '');
  assert.ok(open.slice(1).every(({ socket }) => !socket.destroyed));
  for (const { socket } of open) socket.destroy();
});
