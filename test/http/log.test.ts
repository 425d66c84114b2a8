/** What the log holds of a request, its client and an error, what neither it nor the answer may hold, and how repeated refusals are counted. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createApiKeyText } from '../../src/api-key.ts';
import { type ErrorCode, PetstoreError } from '../../src/error.ts';
import { RequestLog } from '../../src/http/request-log.ts';
import type { RequestLine } from '../../src/log.ts';
import { createLog } from '../../src/service/open-log.ts';
import { startSharedApp, startTestApp } from '../support/app.ts';
import { assertError, type Code, type Sent, STATUS_OF, send } from '../support/request.ts';
import { exchange } from '../support/socket.ts';

const PROXIES = ['127.0.0.1', '10.0.0.0/8', '2001:db8:1::/48', '::1'];
const service = await startSharedApp({ trustProxy: PROXIES });
const { authorization } = service;

let clients = 0;

/** The answer, and the lines that this request left in the log. */
async function sendAndRead(sent: Sent) {
  const { port, log } = service;
  const start = log.length;
  // Refusals of one client in one second would not all be logged.
  clients += 1;
  const client = `192.0.2.${clients}`;
  const headers = { 'x-forwarded-for': client, ...sent.headers };
  const answer = await send(port, { ...sent, headers });
  // The line is written just after the answer.
  while (!log.slice(start).some(({ status }) => status !== undefined)) await setTimeout(1);
  return { answer, lines: log.slice(start), client };
}

const refused = (code: Code, reason: string) => ({ status: STATUS_OF[code], code, reason });
const NO_PET = refused('not_found', 'there is no pet with this petId');
const TWICE = refused('bad_request', 'body: the member "…" is given twice');
const NOTHING = refused('not_found', 'there is nothing at this path; pets are at /v1/pets');
const CREATE = { method: 'POST', path: '/v1/pets', headers: authorization };

for (const [method, path, expected] of [
  ['GET', '/v1/pets?limit=5', { route: '/v1/pets', status: 200 }],
  ['GET', '/v1/pets/9', { route: '/v1/pets/:petId', ...NO_PET }],
  ['POST', '/v1/pets', { route: '/v1/pets', ...TWICE }],
  ['GET', '/livez', { route: '/livez', status: 200 }],
  ['GET', '/nothing?next=/', NOTHING],
] as const) {
  const keyId = path.startsWith('/v1') ? 1 : null;
  const sent = { method, path, headers: keyId === null ? {} : authorization };
  const body = method === 'POST' ? '{"x":1,"x":1}' : '';
  test(`log › ${method} ${path}, answered ${expected.status} › leaves one line with these members`, async () => {
    const { answer, lines, client } = await sendAndRead({ ...sent, body });
    assert.equal(lines.length, 1);
    const { time, ms, ...rest } = lines[0] ?? {};
    const requestId = answer.headers['x-request-id'];
    const { pid } = process;
    assert.deepEqual(rest, { ...expected, level: 'info', pid, client, method, keyId, requestId });
    assert.ok(typeof ms === 'number' && ms > 0 && ms < 10_000);
    assert.equal(new Date(String(time)).toISOString(), time);
  });
}

test('log › whatever way a key is sent › holds neither it nor any other content of the client', async () => {
  const wrong = createApiKeyText('staging');
  const secret = 'Rumpelstiltskin';
  const sents: Sent[] = [
    { path: `/v1/pets?access_token=${service.key}`, headers: authorization },
    { path: `/v1/pets?cursor=${service.key}`, headers: authorization },
    { path: `/v1/pets/${service.key}`, headers: authorization },
    { path: `/${service.key}` },
    { path: '/v1/pets', headers: { authorization: `Bearer ${wrong}` } },
    { path: '/v1/pets', headers: { authorization: [`Bearer ${service.key}`, 'x'].join() } },
    { path: `/livez?key=${service.key}`, headers: { 'x-request-id': `${service.key}!` } },
    ...[
      `{"${secret}":1,"${secret}":1}`,
      `["${wrong}" "${secret}"]`,
      `{"${secret}":\n${secret}}`,
    ].map((body) => ({ ...CREATE, body })),
  ];
  for (const sent of sents) {
    const { answer, lines } = await sendAndRead(sent);
    const text = JSON.stringify(lines);
    for (const hidden of [service.key, wrong.slice(-9), 'Rumpel', 'stiltskin']) {
      assert.ok(!text.includes(hidden), text);
    }
    assert.ok(!answer.body.includes(service.key) && !answer.body.includes(wrong), answer.body);
  }
});

const CAUSE = 'select secret_column from somewhere';

const BUSY = 'the database is busy';
const MESSAGES = {
  internal_error: /^the service failed to answer; the X-Req/,
  unavailable:
    /^the service cannot answer now: try again when Retry-After says, a POST only with its Id/,
} as const;

for (const [what, failure, code, reason] of [
  ['an error', new Error(CAUSE), 'internal_error'],
  [
    'an error with a status',
    Object.assign(new Error(CAUSE), { statusCode: 400 }),
    'internal_error',
  ],
  ['one of a socket', Object.assign(new Error(CAUSE), { code: 'ECONNRESET' }), 'internal_error'],
  ['a refusal', new PetstoreError('unavailable', BUSY, { cause: CAUSE }), 'unavailable', BUSY],
] as const) {
  test(`log › a list, for which the store throws ${what} › answers ${code} and logs the cause once`, async (t) => {
    t.mock.method(service.store.pets, 'listAsJson', () => Promise.reject(failure));
    const { answer, lines } = await sendAndRead({ path: '/v1/pets', headers: authorization });
    assertError(answer, code, MESSAGES[code]);
    assert.equal(answer.headers['retry-after'], code === 'unavailable' ? '1' : undefined);
    assert.ok(!JSON.stringify(answer).includes('secret_column'));
    assert.equal(lines.length, 1);
    const { level, requestId, err, ...line } = lines[0] ?? {};
    assert.deepEqual([level, requestId], ['error', answer.headers['x-request-id']]);
    assert.deepEqual([line.code, line.reason], [code, reason]);
    assert.equal(Object(err).message, code === 'internal_error' ? CAUSE : undefined);
  });
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

for (const [traceparent, traceId] of [
  [`00-${TRACE}-00f067aa0ba902b7-01`, TRACE],
  [`ff-${TRACE}-00f067aa0ba902b7-01`, undefined],
  [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
  [`00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
  [`00-${TRACE}-00f067aa0ba902b7-01-x`, undefined],
  ['', undefined],
] as const) {
  test(`log › traceparent ${traceparent} › is ${traceId === undefined ? 'left out' : 'the trace id'}`, async () => {
    const { lines } = await sendAndRead({ path: '/livez', headers: { traceparent } });
    assert.equal(lines[0]?.traceId, traceId);
  });
}

async function findClientOf(remoteAddress: string, forwarded?: string) {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  await service.app.inject({ url: '/livez', remoteAddress, headers });
  return service.log.at(-1)?.client;
}

for (const [what, remote, forwarded, expected] of [
  ['no field', '10.1.2.3', undefined, '10.1.2.3'],
  ['addresses that its client made up', '127.0.0.1', '198.51.100.9, 192.0.2.1', '192.0.2.1'],
  ['a second proxy', '127.0.0.1', '198.51.100.9, 192.0.2.1, 10.9.9.9', '192.0.2.1'],
  ['no address behind', '127.0.0.1', '192.0.2.1, unknown', '127.0.0.1'],
  ['an address with its port', '127.0.0.1', '192.0.2.1:47110', '127.0.0.1'],
  ['IPv4 in IPv6', '::ffff:127.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['an address of an untrusted proxy', '11.0.0.1', '198.51.100.9', '11.0.0.1'],
] as const) {
  test(`client › of ${remote}, with ${what} › is ${expected}`, async () => {
    assert.equal(await findClientOf(remote, forwarded), expected);
  });
}

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
