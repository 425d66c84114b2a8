/** nginx, configured as in deploy/, without a replica that answers: its own errors have the Error shape, and one address has its bounds. */

import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { assertError, send } from '../support/request.ts';
import { exchange, getFreePort, listen, parseAnswer } from '../support/socket.ts';
import { until } from '../support/until.ts';
import { RATE, startBalancer } from './balancer.ts';
import * as petstore from './petstore.ts';

/** Of nginx.conf, for each address: requests at once, and connections with a request. */
const BURST = 200;
const CONNECTIONS_MAX = 100;

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
      assertError(answer, code, /./);
      // A page of another origin can read it.
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      assert.match(answer.headers['access-control-expose-headers'] ?? '', /Retry-After, .*X-Req/);
    });
  }

  test('load balancer › an address above its requests › is answered 429, and another one is not', async () => {
    const closed = await getFreePort();
    await using balancer = await startBalancer([closed, closed], { rate: RATE });
    const one = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n';
    const text = await exchange(balancer.port, one.repeat(900), `${get}\r\n`);
    const answers = text.split(/(?=HTTP\/1\.1 )/).map(parseAnswer);
    const refused = answers.filter(({ status }) => status === 429);
    assert.ok(refused.length > 0 && answers.length - refused.length > BURST);
    assert.ok(answers.slice(0, BURST).every(({ status }) => status === 503));
    for (const answer of refused) assertError(answer, 'rate_limited', /./);
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
    assertError(parseAnswer(await ask()), 'rate_limited', /./);
    const other = new AbortController();
    const sent = { path: '/v1/pets', localAddress: '127.0.0.2', signal: other.signal };
    const waiting = assert.rejects(send(balancer.port, sent));
    await until(() => silent.requests.length === CONNECTIONS_MAX + 1);
    other.abort();
    await waiting;
    silent.close();
  });
});
