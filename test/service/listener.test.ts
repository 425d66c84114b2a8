/** The listener of a service: where it listens, what a start says of it, and how it stops. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { describe, mock, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { SCRIPT_NAME } from '../../src/http/routes/docs.ts';
import type { OptionRow } from '../../src/option.ts';
import { startListener } from '../../src/service/listener.ts';
import { createLog } from '../../src/service/open-log.ts';
import { SERVE_OPTIONS, type ServeOptions } from '../../src/service/serve-options.ts';
import {
  describeFirstKey,
  describeService,
  explainListenError,
  warnAtStart,
} from '../../src/service/service.ts';
import { openStore } from '../../src/storage/open.ts';
import { addKey } from '../support/app.ts';
import { sum } from '../support/metrics.ts';
import { openConnection, writeForEver } from '../support/socket.ts';
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
const SCRIPT = `/docs/js/${SCRIPT_NAME}`;
const GET_SCRIPT = `GET ${SCRIPT} HTTP/1.1\r\nHost: x\r\n\r\n`;

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
  const store = await openStore(options.database, { create: true });
  const key = await addKey(store, { environment: 'staging' });
  const openedLog = { log, say: log.info, countDropped: () => 0, close: async () => true };
  const service = await startListener(options, store, openedLog);
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
  ['0.0.0.0', '127.0.0.1'],
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
    const [, { api, console, docs }] = describeService(options, store, service, undefined);
    const pages = { api: `${url}/v1`, console: `${url}/console`, docs: `${url}/docs` };
    assert.deepEqual({ api, console, docs }, pages);
    for (const name of [shown, ...others]) {
      assert.equal((await fetch(`http://${name}:${service.port}/livez`)).status, 200);
    }
    warnAtStart(options, log);
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

describe('listener', { concurrency: 4 }, () => {
  test('listener › stopped while an answer is read slowly › closes its connection soon after its end', async () => {
    await using started = await start();
    const { service, lines } = started;
    using slow = openConnection(service.port);
    slow.socket.pause();
    // The kernel takes the first answers: the last one stays.
    for (let polls = 0; polls < 20; ) {
      const before = lines.length;
      slow.socket.write(GET_SCRIPT);
      await until(() => lines.length > before);
      await until(async () => {
        const metrics = (await service.readMetrics?.()) ?? '';
        polls = sum(metrics, 'petstore_http_requests_in_flight') === 0 ? 0 : polls + 1;
        return polls === 0 || polls === 20;
      });
    }
    const stopping = service.stop();
    await setTimeout(200);
    slow.socket.resume();
    await until(() => slow.socket.closed);
    assert.ok(!/\r\nconnection: close\r\n/i.test(slow.received));
    await within(stopping);
  });

  test('listener › stopped while clients pipeline without a pause › gives whole answers, the last of which ends the connection', async () => {
    await using started = await start();
    const { service, head } = started;
    const clients = Array.from({ length: 4 }, () => openConnection(service.port));
    const closed = clients.map(({ socket }) => new Promise((end) => socket.once('close', end)));
    const answered = clients.map(({ socket }) => once(socket, 'data'));
    for (const { socket } of clients) writeForEver(socket, `${head}\r\n${BODY}`.repeat(50));
    await Promise.all(answered);
    // They read late: a reset would take from them what they have not read.
    for (const { socket } of clients) socket.pause();
    const stopping = service.stop();
    await setTimeout(500);
    for (const { socket } of clients) socket.resume();
    await Promise.all(closed);
    for (const { received } of clients) {
      const answers = received.split('HTTP/1.1 ').slice(1);
      for (const answer of answers)
        assert.match(answer, /^201 Created\r\n[\s\S]*"categoryId":1\}$/);
      const last = answers.pop() ?? '';
      assert.match(last, /\r\nconnection: close\r\n/i);
      for (const answer of answers) assert.doesNotMatch(answer, /\r\nconnection: close\r\n/i);
    }
    await within(stopping);
  });

  test('listener › stopped behind many answers that are read slowly › sends whole ones, and closes the connection', async () => {
    await using started = await start();
    const { service } = started;
    using connection = openConnection(service.port);
    const url = `http://127.0.0.1:${service.port}${SCRIPT}`;
    const { headers } = await fetch(url, { method: 'HEAD' });
    connection.socket.pause();
    // More than the kernel keeps.
    connection.socket.write(GET_SCRIPT.repeat(15));
    await until(() => connection.socket.bytesRead > 0);
    const stopping = service.stop();
    await setTimeout(500);
    connection.socket.resume();
    const [, ...answers] = (await connection.readToEnd()).split('HTTP/1.1 200 OK\r\n');
    assert.ok(answers.length < 15);
    assert.match(answers.at(-1) ?? '', /^connection: close\r\n/im);
    const sizes = answers.map((answer) => {
      const answerHead = `HTTP/1.1 200 OK\r\n${answer.slice(0, answer.indexOf('\r\n\r\n') + 4)}`;
      return answerHead.length + Number(headers.get('content-length'));
    });
    assert.equal(
      connection.socket.bytesRead,
      sizes.reduce((total, size) => total + size),
    );
    await within(stopping);
  });
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
  await assert.rejects(fetch(`http://127.0.0.1:${service.port}/livez`));
  assert.equal(connection.socket.closed, false);
  cut?.();
  await within(stopping);
});
