/** What the log holds of a request, its client and an error, and what neither it nor the answer may hold. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createApiKeyText } from '../../src/api-key.ts';
import { PetstoreError } from '../../src/error.ts';
import { startTestApp } from '../support/app.ts';
import { assertError, type Code, type Sent, STATUS_OF, send } from '../support/request.ts';

const PROXIES = ['127.0.0.1', '10.0.0.0/8', '2001:db8:1::/48', '::1'];
const service = await startTestApp({ trustProxy: PROXIES });
after(() => service[Symbol.asyncDispose]());
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
