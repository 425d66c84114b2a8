/** Repeated refusals: a few of them are logged, the others counted, and nothing else is left out. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '../../src/error.ts';
import { RequestLog } from '../../src/http/request-log.ts';
import type { RequestLine } from '../../src/log.ts';
import { createLog } from '../../src/service/open-log.ts';
import { startTestApp } from '../support/app.ts';
import { exchange } from '../support/socket.ts';

type Line = Record<string, unknown>;

const DONE: RequestLine = { client: '192.0.2.1', status: 200, requestId: 'x', keyId: 1 };
const refusal = (client: string, code: ErrorCode = 'unauthorized', status = 401): RequestLine => ({
  ...DONE,
  client,
  status,
  refusal: { code },
});

/** A log of requests, and what it wrote and counted so far. */
function openRequestLog() {
  const lines: Line[] = [];
  const counted: RequestLine[] = [];
  const log = createLog('info', (line) => lines.push(JSON.parse(line)));
  return { lines, counted, requests: new RequestLog(log, (line) => counted.push(line)) };
}

/** How many requests the lines tell of, one by one and counted. */
function countRequests(lines: readonly Line[]): number {
  return lines.reduce((sum, { leftOut = 1 }) => sum + Number(leftOut), 0);
}

test('request log › 10,000 refusals of a client in a second › are five lines and their count', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { lines, counted, requests } = openRequestLog();
  for (let sent = 0; sent < 10_000; sent += 1) requests.write(refusal('192.0.2.1'));
  assert.equal(lines.length, 5);
  assert.equal(counted.length, 10_000);
  t.mock.timers.tick(1_000);
  const { time, pid, ...last } = lines.at(-1) ?? {};
  assert.deepEqual(last, {
    level: 'info',
    client: '192.0.2.1',
    code: 'unauthorized',
    leftOut: 9_995,
    msg: 'more refusals, only counted',
  });
  assert.equal(lines.length, 6);
});

test('request log › other clients and codes › have lines of their own, and what is not refused has all', () => {
  const { lines, requests } = openRequestLog();
  for (let sent = 0; sent < 100; sent += 1) {
    requests.write(DONE);
    requests.write(refusal('192.0.2.1'));
    requests.write(refusal('192.0.2.1', 'internal_error', 500));
    requests.write(refusal('192.0.2.2'));
  }
  requests.flush();
  assert.equal(lines.length, 100 + 3 * 6);
  assert.equal(countRequests(lines), 400);
  const counts = lines.filter(({ leftOut }) => leftOut === 95);
  assert.deepEqual(
    counts.map(({ level, client, code }) => [level, client, code]),
    [
      ['info', '192.0.2.1', 'unauthorized'],
      ['error', '192.0.2.1', 'internal_error'],
      ['info', '192.0.2.2', 'unauthorized'],
    ],
  );
});

test('request log › refusals of 1,000 other clients each second › have lines of the first 100 of that second, and of the others', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { lines, requests } = openRequestLog();
  for (const [second, refusals] of [5, 6, 7].entries()) {
    const clients = Array.from({ length: 1_000 }, (_, index) => `10.0.${second}.${index}`);
    for (let round = 0; round < refusals; round += 1) {
      for (const client of clients) requests.write(refusal(client));
    }
    lines.length = 0;
    t.mock.timers.tick(1_000);
    const own = clients.slice(0, refusals > 5 ? 100 : 0).map((client) => [client, refusals - 5]);
    assert.deepEqual(
      lines.map(({ client, leftOut }) => [client, leftOut]),
      [...own, ['others', 900 * refusals - 5]],
    );
  }
});

for (const [what, text] of [
  ['without a key', 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ['of the parser', 'GARBAGE\r\n\r\n'],
  ['without a Host', 'GET /livez HTTP/1.1\r\n\r\n'],
] as const) {
  test(`request log › 50 refusals ${what} › are a few lines a second, and all are told by the stop`, async () => {
    const start = performance.now();
    const app = await startTestApp();
    for (let sent = 0; sent < 50; sent += 1) await exchange(app.port, text);
    await app[Symbol.asyncDispose]();
    assert.equal(countRequests(app.log), 50);
    assert.ok(app.log.every(({ client }) => client === '127.0.0.1'));
    const seconds = Math.ceil((performance.now() - start) / 1_000);
    assert.ok(app.log.length <= (seconds + 1) * 6, `${app.log.length} lines in ${seconds} s`);
  });
}
