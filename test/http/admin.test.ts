/** The admin listener: metrics and health without a key, under the same rules as the service itself. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { ADMIN_CONNECTIONS_MAX, createAdminApp } from '../../src/http/app.ts';
import { createLog } from '../../src/service/open-log.ts';
import { startTestApp } from '../support/app.ts';
import { assertError, assertJson, send } from '../support/request.ts';
import { openConnection, type RawConnection } from '../support/socket.ts';

const METRICS = '# TYPE pets gauge\npets 1\n';

const real = await startTestApp();
const log: Record<string, unknown>[] = [];
let stopping = false;
const app = await createAdminApp({
  store: real.store,
  log: createLog('info', (line) => log.push(JSON.parse(line))),
  readMetrics: async () => METRICS,
  isStopping: () => stopping,
});
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;
after(async () => {
  app.server.closeAllConnections();
  await app.close();
  await real[Symbol.asyncDispose]();
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
  assertError(await send(port, { path: '/v1/pets' }), 'not_found', /^there is nothing at this/);
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
