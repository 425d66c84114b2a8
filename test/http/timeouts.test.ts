/** Requests that never end: each is answered 408 in time. Here the times are shorter. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startSharedApp } from '../support/app.ts';
import { HANG_MS } from '../support/hang.ts';
import { assertError, send } from '../support/request.ts';
import { exchange, parseAnswer } from '../support/socket.ts';

const service = await startSharedApp();
const { port, key } = service;
const { server } = service.app;
const { headersTimeout, requestTimeout } = server;
Object.assign(server, { headersTimeout: 1_500, requestTimeout: 3_500 });

const HEAD = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
/** The delay that timers and a busy machine may add. */
const SLACK_MS = HANG_MS / 12;

describe('timeouts', { concurrency: true }, () => {
  for (const [what, text, seconds] of [
    ['no byte at all', '', 2],
    ['headers without an end', HEAD, 2],
    ['a body that stops', `${HEAD}Content-Length: 29\r\n\r\n{"name":`, 4],
    ['chunks without an end', `${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`, 4],
  ] as const) {
    test(`timeouts › ${what} › answers 408 within ${seconds} s and closes`, async () => {
      const start = performance.now();
      const answer = parseAnswer(await exchange(port, text));
      const ms = performance.now() - start;
      assertError(answer, 'request_timeout', /within 30 s, its headers within 10 s$/);
      assert.equal(answer.headers.connection, 'close');
      assert.ok(ms < seconds * 1_000 + SLACK_MS, `answered after ${ms} ms`);
      // Node looks at them each half a second, and a timer may end a little early.
      assert.ok(ms > seconds * 1_000 - 600, `answered already after ${ms} ms`);
    });
  }
});

test('timeouts › of a connection on which nothing happens › are 650 s between two requests, and 60 s within one', async () => {
  const { headers } = await send(port, { path: '/livez' });
  assert.equal(headers['keep-alive'], 'timeout=650');
  // Node closes a socket on which no byte moves for this long.
  assert.equal(server.timeout, 60_000);
});

test('timeouts › of headers and requests › end half a second early, since Node looks at them so often', () => {
  assert.deepEqual([headersTimeout, requestTimeout], [9_500, 29_500]);
});

test('timeouts › all of them › are no failure of the service', () => {
  const failures = service.log.filter(({ level }) => level !== 'info');
  assert.deepEqual(failures, []);
});
