/** The listener of a service: where it listens, what a start says of it, and how it stops. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { mock, test } from 'node:test';
import { SCRIPT_NAME } from '../../src/http/routes/docs.ts';
import type { OptionRow } from '../../src/option.ts';
import { startAdmin, startListener } from '../../src/service/listener.ts';
import { createLog } from '../../src/service/open-log.ts';
import { SERVE_OPTIONS, type ServeOptions } from '../../src/service/serve-options.ts';
import { requireKey } from '../../src/service/served-store.ts';
import {
  describeFirstKey,
  describeService,
  explainListenError,
  warnAtStart,
} from '../../src/service/service.ts';
import { openStore } from '../../src/storage/open.ts';
import { addKey } from '../support/app.ts';
import { holdInSession } from '../support/empty-database.ts';
import { sum } from '../support/metrics.ts';
import { createTestDatabase, endSessions, NO_SESSIONS } from '../support/postgres.ts';
import { openConnection, sendUntilUnread, untilRefused } from '../support/socket.ts';
import { until, within } from '../support/until.ts';

/** What cuts the connections 10 s after a stop: only a test calls it, since a busy machine may need this time. */
const cuts: (() => void)[] = [];
const { setTimeout: set } = globalThis;
mock.method(
  globalThis,
  'setTimeout',
  (run: (...args: unknown[]) => void, ms: number, ...rest: unknown[]) => {
    if (ms !== 10_000) return set(run, ms, ...rest);
    cuts.push(run);
    return set(() => undefined, ms);
  },
);

const BODY = '{"name":"Rex","categoryId":1}';
const GET_SCRIPT = `GET /docs/js/${SCRIPT_NAME} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** Starts one on a new store, with a key; what it logs is counted. */
async function start(more: Partial<ServeOptions> = {}) {
  const lines: string[] = [];
  const log = createLog('info', (line) => lines.push(line));
  const rows = Object.entries<OptionRow>(SERVE_OPTIONS);
  const defaults = rows.map(([name, row]) => [name, row.default]);
  const options: ServeOptions = {
    ...Object.fromEntries(defaults),
    ...{ database: 'sqlite::memory:', port: 0, adminPort: 0, ...more },
  };
  const store = await openStore(options.database, { ...options, create: true });
  const key = await addKey(store, { environment: 'staging' });
  const openedLog = { log, say: log.info, countDropped: () => 0, close: async () => true };
  const served = requireKey(store, options);
  const service = await startListener(options, served, openedLog, () => false);
  const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${BODY.length}\r\n`;
  return {
    ...{ options, store, service, key, lines, log, head },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((address) => address?.address === '::1');
for (const [host, shown, others = []] of [
  ['*', '127.0.0.1', hasIpv6 ? ['[::1]'] : []],
  ['::', '127.0.0.1'],
  ['::1', '[::1]'],
] as const) {
  const skip = host.includes(':') && !hasIpv6 && 'this machine has no IPv6';
  test(`listener › --host ${host} › has addresses that answer`, { skip }, async () => {
    await using started = await start({ host });
    const { options, store, service, lines, log, key } = started;
    const url = `http://${shown}:${service.port}`;
    const firstKey = describeFirstKey(key, options, service);
    assert.ok(firstKey.includes(` ${url}/v1/pets\n`));
    assert.ok(firstKey.endsWith(` ${url}/console#key=${key}\n`));
    const told = describeService({ ...options, adminHost: host }, store, service, service)[1];
    const pages = { api: `${url}/v1`, console: `${url}/console`, docs: `${url}/docs` };
    // No command can make a key in memory: there is no `keys`.
    const more = { store: 'sqlite::memory:, new', environment: 'staging' };
    assert.deepEqual(told, { ...pages, ...more, metrics: `${url}/metrics` });
    for (const name of [shown, ...others]) {
      assert.equal((await fetch(`http://${name}:${service.port}/livez`)).status, 200);
    }
    const report = mock.method(process.report, 'getReport');
    for (const trustProxy of [undefined, ['192.0.2.1']])
      warnAtStart({ ...options, trustProxy }, log);
    report.mock.restore();
    // With the network in it, a report waits until DNS tells a name for each socket.
    const [{ result } = {}] = report.mock.calls;
    assert.equal(Object(result).header.networkInterfaces, undefined);
    const warned = lines.filter((line) => line.includes('keys travel in the clear on the network'));
    assert.equal(warned.length, Number(host !== '::1'));
    await service.stop();
  });
}

test('listener › the last port is in use › is told with a port that can be used', () => {
  const place = { host: '127.0.0.1', port: 65_535, options: '' } as const;
  const error = explainListenError({ code: 'EADDRINUSE' }, place) as Error;
  assert.match(error.message, / --port 0 \(or PETSTORE_PORT=0\)$/);
});

test('listener › stopped while an answer is read slowly › sends the whole of it, and closes its connection soon after its end', async () => {
  await using started = await start();
  const { service } = started;
  using slow = openConnection(service.port);
  const answer = await sendUntilUnread(slow.socket, GET_SCRIPT);
  const stopping = service.stop();
  await untilRefused(service.port);
  slow.socket.resume();
  await slow.readToEnd();
  assert.ok(answer.writableFinished);
  await within(stopping);
});

test('listener › stopped while a request never ends › cuts it after 10 s', async () => {
  await using started = await start();
  const { service, head } = started;
  using connection = openConnection(service.port);
  connection.socket.write(`${head}Expect: 100-continue\r\n\r\n`);
  await once(connection.socket, 'data');
  connection.socket.write(BODY.slice(0, 9));
  cuts.length = 0;
  const stopping = service.stop();
  const [cut, ...others] = cuts;
  assert.deepEqual(others, []);
  await untilRefused(service.port);
  assert.equal(connection.socket.closed, false);
  cut?.();
  await within(stopping);
});

test('metrics of a service › PostgreSQL does not answer, then ends all connections › petstore_ready is 0 long before /readyz is 503, and these are counted as broken', {
  skip: NO_SESSIONS,
}, async () => {
  await using database = await createTestDatabase();
  await using started = await start({ database: database.address, databaseTimeout: 60 });
  const { service } = started;
  const read = async (name: string) => sum((await service.readMetrics?.()) ?? '', name);
  {
    await using _held = await holdInSession(database, 'lock table pets');
    let isChecked = false;
    const checked = fetch(`http://127.0.0.1:${service.port}/readyz`).finally(() => {
      isChecked = true;
    });
    checked.catch(() => undefined);
    assert.equal(await within(read('petstore_ready')), 0);
    assert.equal(isChecked, false);
  }
  await until(async () => (await read('petstore_ready')) === 1);
  assert.ok((await read('petstore_database_connections')) >= 1);
  await endSessions(database.address);
  await until(async () => (await read('petstore_database_broken_connections_total')) > 0);
  await service.stop();
});

test('admin listener › stopped while a scrape never ends › cuts it at once', async () => {
  await using started = await start();
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const readMetrics = () => {
    resolve();
    return new Promise<never>(() => {});
  };
  const { options, store, log } = started;
  const isStopping = () => true;
  const admin = await startAdmin(options, { store, log, readMetrics, isStopping });
  using scraper = openConnection(admin.port);
  scraper.socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
  await asked;
  await within(admin.stop());
  assert.equal(await scraper.readToEnd(), '');
  await started.service.stop();
});
