/** nginx, configured as in deploy/, without a replica that answers: its own errors have the Error shape, and one address has its bounds. */

import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { send } from '../support/request.ts';
import { exchange, getFreePort, listen, parseAnswer } from '../support/socket.ts';
import { assertOwnError, RATE, startBalancer } from './balancer.ts';
import * as petstore from './petstore.ts';

const BODY_BYTES_MAX = 64 * 1024;
/** Of nginx.conf, for each address: requests at once, and connections with a request. */
const BURST = 200;
const CONNECTIONS_MAX = 100;

describe('load balancer without replicas', { concurrency: true }, () => {
  /** Accepts requests, counts them, and closes without an answer. */
  async function listenInVain() {
    let requests = 0;
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        requests += 1;
        socket.destroy();
      });
    });
    const port = await listen(server);
    return { port, count: () => requests, close: () => server.close() };
  }

  test('load balancer › a replica that ends during a request › gets no POST repeated, but a GET', async () => {
    const one = await listenInVain();
    const two = await listenInVain();
    await using balancer = await startBalancer([one.port, two.port]);
    assert.equal((await petstore.post(balancer, 'x', '{}')).status, 503);
    assert.equal(one.count() + two.count(), 1);
    assert.equal((await petstore.get(balancer, 'x', '/v1/pets')).status, 503);
    assert.equal(one.count() + two.count(), 3);
    one.close();
    two.close();
  });

  const head = 'Host: petstore.test\r\nConnection: close\r\n';
  const cases = [
    ['no replica', 503, 'unavailable', `GET /v1/pets HTTP/1.1\r\n${head}\r\n`],
    [
      'a body above 64 KiB',
      ...([413, 'payload_too_large'] as const),
      `POST /v1/pets HTTP/1.1\r\n${head}Content-Length: ${BODY_BYTES_MAX + 1}\r\n\r\n`,
    ],
    [
      'a header above 16 KiB',
      ...([431, 'headers_too_large'] as const),
      `GET /v1/pets HTTP/1.1\r\n${head}X-Long: ${'x'.repeat(17_000)}\r\n\r\n`,
    ],
    [
      'a target above 16 KiB',
      ...([431, 'headers_too_large'] as const),
      `GET /${'x'.repeat(17_000)} HTTP/1.1\r\n${head}\r\n`,
    ],
    ['TRACE', 405, 'method_not_allowed', `TRACE /v1/pets HTTP/1.1\r\n${head}\r\n`],
    ['no Host', 400, 'bad_request', 'GET /v1/pets HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['no HTTP', 400, 'bad_request', 'rubbish\r\n\r\n'],
    [
      'a strange Transfer-Encoding',
      ...([400, 'bad_request'] as const),
      `POST /v1/pets HTTP/1.1\r\n${head}Transfer-Encoding: gzip\r\n\r\n`,
    ],
    ["nginx's own page", 404, 'not_found', `GET /petstore-error HTTP/1.1\r\n${head}\r\n`],
  ] as const;
  for (const [what, status, code, request] of cases) {
    test(`load balancer › ${what} › answers ${status} in the Error shape`, async () => {
      const closed = await getFreePort();
      await using balancer = await startBalancer([closed, closed]);
      assertOwnError(parseAnswer(await exchange(balancer.port, request)), status, code);
    });
  }

  test('load balancer › an address above its requests › is answered 429, and another one is not', async () => {
    const closed = await getFreePort();
    await using balancer = await startBalancer([closed, closed], { rate: RATE });
    const one = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n';
    const text = await exchange(
      balancer.port,
      `${one}\r\n`.repeat(900),
      `${one}Connection: close\r\n\r\n`,
    );
    const answers = text.split(/(?=HTTP\/1\.1 )/).map(parseAnswer);
    const refused = answers.filter(({ status }) => status === 429);
    assert.ok(refused.length > 0 && answers.length - refused.length > BURST);
    assert.ok(answers.slice(0, BURST).every(({ status }) => status === 503));
    for (const answer of refused) assertOwnError(answer, 429, 'rate_limited');
    const other = await send(balancer.port, { path: '/v1/pets', localAddress: '127.0.0.2' });
    assert.equal(other.status, 503);
  });

  test('load balancer › an address above its connections › is answered 429, and another one is not', async () => {
    let begun = 0;
    const silent = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        begun += 1;
      });
    });
    const port = await listen(silent);
    await using balancer = await startBalancer([port, port]);
    const get = `GET /v1/pets HTTP/1.1\r\n${head}\r\n`;
    for (let count = 0; count < CONNECTIONS_MAX; count += 1) void exchange(balancer.port, get);
    while (begun < CONNECTIONS_MAX) await setTimeout(10);
    assertOwnError(parseAnswer(await exchange(balancer.port, get)), 429, 'rate_limited');
    const other = new AbortController();
    const sent = { path: '/v1/pets', localAddress: '127.0.0.2', signal: other.signal };
    const waiting = assert.rejects(send(balancer.port, sent));
    while (begun === CONNECTIONS_MAX) await setTimeout(10);
    other.abort();
    await waiting;
    silent.close();
  });
});
