/** nginx, configured as in deploy/: before two replicas on one PostgreSQL it is one service to a client. Without them, its own errors have the Error shape, and one address has its bounds. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request as requestByTls } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startCluster } from '../support/postgres-cluster.ts';
import { type RunningService, startService } from '../support/program.ts';
import { assertError, type Code, send } from '../support/request.ts';
import {
  type Answer,
  exchange,
  getFreePort,
  listen,
  openConnection,
  parseAnswer,
} from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { ALL_ANSWERED, startLoad } from './load.ts';
import * as petstore from './petstore.ts';

/** Of nginx.conf, for each address: requests at once, and connections with a request. */
const BURST = 200;
const CONNECTIONS_MAX = 100;
const BODY_BYTES_MAX = 64 * 1024;
/** The longest delay of a log line. */
const LOG_MS_MAX = 500;
const CLIENTS = 4;
/** More connections than two processes of nginx take unless it is configured. */
const ATTACKERS = 1_100;

const cwd = createProcessFolder();
const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const cluster = stack.use(await startCluster());
const env = { PETSTORE_DATABASE: cluster.url() };
const start = (...args: string[]) => startService(args, { cwd, env });
const one = stack.use(await start('--trust-proxy', '127.0.0.1'));
const two = stack.use(await start('--trust-proxy', '127.0.0.1'));
const { key } = one;
const balancer = stack.use(await startBalancer([one.port, two.port]));

test('load balancer › a client that names another address › is logged with its own', async () => {
  const headers = { 'x-forwarded-for': '198.51.100.9', origin: 'http://shop.test' };
  const request = { path: '/nothing', localAddress: '127.0.0.2', headers };
  const answer = await send(balancer.port, request);
  assert.equal(answer.status, 404);
  // nginx adds nothing to the service's own answer: a second origin is an error in a browser.
  assert.equal(answer.headers['access-control-allow-origin'], '*');
  await setTimeout(LOG_MS_MAX);
  const log = [one, two].map(({ output }) => output.stderr).join('');
  assert.match(log, /"client":"127\.0\.0\.2","method":"GET","status":404/);
  assert.ok(!log.includes('198.51.100.9'));
});

test('load balancer › an address with 1,100 connections that send a byte each › keeps no other client out', async () => {
  const { port } = balancer;
  using opened = new DisposableStack();
  for (let count = 0; count < ATTACKERS; count += 1) {
    const { socket } = opened.use(openConnection(port));
    // One after the other: nginx closes a connection of which it has read nothing to make room.
    await once(socket, 'connect');
    await new Promise((resolve) => socket.write('G', resolve));
  }
  const headers = { authorization: `Bearer ${key}`, connection: 'close' };
  const request = { path: '/v1/pets?limit=1', localAddress: '127.0.0.2', headers };
  for (let count = 0; count < 100; count += 1) {
    assert.equal((await send(port, request)).status, 200);
  }
});

test('load balancer › with tls.conf beside it › takes TLS 1.2 and newer, and tells browsers', async () => {
  const tlsPort = await getFreePort();
  await using balancer = await startBalancer([one.port, two.port], { tlsPort });
  const ca = await readFile(join(balancer.folder, 'server.crt'));
  const ask = async (path: string, options = {}): Promise<IncomingMessage> => {
    const headers = { authorization: `Bearer ${key}`, connection: 'close' };
    const place = { host: '127.0.0.1', port: tlsPort, path, headers };
    const sent = requestByTls({ ...place, ca, servername: 'petstore.test', ...options }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    return answer;
  };
  for (const [path, status] of [
    ['/v1/pets', 200],
    ['/petstore-error', 404],
  ] as const) {
    const { statusCode, headers } = await ask(path);
    assert.equal(statusCode, status);
    assert.equal(headers['strict-transport-security'], 'max-age=31536000');
  }
  await ask('/v1/pets', { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' });
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
  await assert.rejects(ask('/v1/pets', old), /alert protocol version/);
  const plain = await send(balancer.port, { path: '/livez' });
  assert.equal(plain.status, 200);
  assert.equal(plain.headers['strict-transport-security'], undefined);
  const request = 'GET /v1/pets HTTP/1.1\r\nHost: petstore.test\r\nConnection: close\r\n\r\n';
  assertError(parseAnswer(await exchange(tlsPort, request)), 'bad_request', /well-formed/);
});

test('load balancer › a body of 64 KiB › passes', async () => {
  const body = '{"name":"Rex","categoryId":1}'.padEnd(BODY_BYTES_MAX);
  assert.equal((await petstore.post(balancer, key, body)).status, 201);
});

/** Sends requests through the balancer while that happens, and for a while before and after it. */
async function loadWhile(balancer: Balancer, prefix: string, happens: () => Promise<void>) {
  const created = new Map([[await petstore.create(balancer, key, prefix), prefix]]);
  const target = { services: [balancer], key, created } as const;
  const load = startLoad(target, prefix, { clients: CLIENTS });
  const from = performance.now();
  await setTimeout(500);
  await happens();
  await setTimeout(500);
  const to = performance.now();
  await load.stop();
  assert.deepEqual(load.violations, []);
  load.assertWithin([from, to], 0, { ...ALL_ANSWERED, create: 'any', ready: 'any' });
  await petstore.assertKept(target);
  return load.countRefusals('create');
}

async function stop({ process, finished }: RunningService): Promise<void> {
  process.kill('SIGTERM');
  assert.equal((await finished).status, 0);
}

test('load balancer › a replica is taken out and stopped under load › no request fails', async () => {
  await using replica = await start();
  await using balancer = await startBalancer([one.port, replica.port]);
  const refused = await loadWhile(balancer, 'taken out', async () => {
    await balancer.takeOut(replica.port);
    await stop(replica);
  });
  assert.equal(refused, 0);
});

test('load balancer › one of two replicas is stopped under load › no more fails than was on its way', async () => {
  const refused = await loadWhile(balancer, 'stopped', () => stop(two));
  assert.ok(refused <= CLIENTS, `${refused} creates were refused`);
  await setTimeout(LOG_MS_MAX);
  for (const { output } of [one, two]) {
    assert.match(output.stderr, /"method":"POST","route":"\/v1\/pets","status":201/);
    assert.match(output.stderr, /"127\.0\.0\.1","method":"GET","route":"\/v1\/pets","status":200/);
  }
});

describe('load balancer without replicas', { concurrency: true }, () => {
  /** A replica that counts the connections with a request, and answers none. */
  async function listenInVain(onRequest = (_socket: Socket) => {}) {
    const requests: Socket[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        requests.push(socket);
        onRequest(socket);
      });
    });
    return { port: await listen(server), requests, close: () => server.close() };
  }

  test('load balancer › a replica that ends during a request › gets no POST repeated, but a GET', async () => {
    const one = await listenInVain((socket) => socket.destroy());
    const two = await listenInVain((socket) => socket.destroy());
    await using balancer = await startBalancer([one.port, two.port]);
    assert.equal((await petstore.post(balancer, 'x', '{}')).status, 503);
    assert.equal(one.requests.length + two.requests.length, 1);
    assert.equal((await petstore.get(balancer, 'x', '/v1/pets')).status, 503);
    assert.equal(one.requests.length + two.requests.length, 3);
    one.close();
    two.close();
  });

  const head = 'Host: petstore.test\r\nConnection: close\r\n';
  const get = `GET /v1/pets HTTP/1.1\r\n${head}`;
  const post = `POST /v1/pets HTTP/1.1\r\n${head}`;
  const long = 'x'.repeat(17_000);
  /** In the Error shape, and a page of another origin can read it. */
  function assertRefusal(answer: Answer, code: Code): void {
    assertError(answer, code, /./);
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    assert.match(answer.headers['access-control-expose-headers'] ?? '', /Retry-After, .*X-Req/);
  }

  for (const [what, code, request, isSilent = false] of [
    ['no replica', 'unavailable', get],
    ['replicas that do not answer', 'unavailable', get, true],
    ['a body above 64 KiB', 'payload_too_large', `${post}Content-Length: 65537\r\n`],
    ['a header above 16 KiB', 'headers_too_large', `${get}X-Long: ${long}\r\n`],
    ['a target above 16 KiB', 'headers_too_large', `GET /${long} HTTP/1.1\r\n${head}`],
    ['TRACE', 'method_not_allowed', `TRACE /v1/pets HTTP/1.1\r\n${head}`],
    ['no Host', 'bad_request', 'GET /v1/pets HTTP/1.1\r\nConnection: close\r\n'],
    ['no HTTP', 'bad_request', 'rubbish\r\n'],
    ['a strange Transfer-Encoding', 'bad_request', `${post}Transfer-Encoding: gzip\r\n`],
    ["nginx's own page", 'not_found', `GET /petstore-error HTTP/1.1\r\n${head}`],
  ] as const) {
    test(`load balancer › ${what} › answers ${code} in the Error shape`, async () => {
      const silent = await listenInVain();
      const port = isSilent ? silent.port : await getFreePort();
      await using balancer = await startBalancer([port, port]);
      const answer = parseAnswer(await exchange(balancer.port, `${request}\r\n`));
      silent.close();
      assertRefusal(answer, code);
    });
  }

  test('load balancer › an address above its requests › is answered 429, and another one is not', async () => {
    const closed = await getFreePort();
    // So slow that none of them counts no more.
    await using balancer = await startBalancer([closed, closed], { rate: '1r/m' });
    const one = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n';
    const text = await exchange(balancer.port, one.repeat(900), `${get}\r\n`);
    const answers = text.split(/(?=HTTP\/1\.1 )/).map(parseAnswer);
    const refused = answers.filter(({ status }) => status === 429);
    assert.ok(refused.length > 0 && answers.length - refused.length > BURST);
    assert.ok(answers.slice(0, BURST).every(({ status }) => status === 503));
    for (const answer of refused) assertRefusal(answer, 'rate_limited');
    const other = await send(balancer.port, { path: '/v1/pets', localAddress: '127.0.0.2' });
    assert.equal(other.status, 503);
    // If it were refused, a browser would send no request.
    const preflight = await send(balancer.port, { method: 'OPTIONS', path: '/v1/pets' });
    assert.equal(preflight.status, 503);
  });

  test('load balancer › an address above its connections › is answered 429, and another one is not', async () => {
    const silent = await listenInVain();
    const readTimeout = '1h';
    await using balancer = await startBalancer([silent.port, silent.port], { readTimeout });
    const ask = () => exchange(balancer.port, `${get}\r\n`);
    for (let count = 0; count < CONNECTIONS_MAX; count += 1) void ask();
    await until(() => silent.requests.length === CONNECTIONS_MAX);
    assertRefusal(parseAnswer(await ask()), 'rate_limited');
    const other = new AbortController();
    const sent = { path: '/v1/pets', localAddress: '127.0.0.2', signal: other.signal };
    const waiting = assert.rejects(send(balancer.port, sent));
    await until(() => silent.requests.length === CONNECTIONS_MAX + 1);
    other.abort();
    await waiting;
    silent.close();
  });
});
