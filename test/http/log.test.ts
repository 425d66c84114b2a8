/** What the log holds of a request and of an error, and what neither it nor the answer may hold. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createApiKeyText } from '../../src/api-key.ts';
import { PetstoreError } from '../../src/error.ts';
import type { PetStore } from '../../src/store.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { assertError, type Sent, send } from '../support/request.ts';
import type { Answer } from '../support/socket.ts';

const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
const { authorization } = service;

/** The answer, and the lines that this request left in the log. */
async function sendAndRead(
  sent: Sent,
  { port, log }: TestApp = service,
): Promise<{ answer: Answer; lines: Record<string, unknown>[] }> {
  const start = log.length;
  const answer = await send(port, sent);
  // The line is written just after the answer.
  while (!log.slice(start).some(({ status }) => status !== undefined)) await setTimeout(1);
  return { answer, lines: log.slice(start) };
}

for (const [sent, expected] of [
  [
    { path: '/v1/pets?limit=5', headers: authorization },
    { route: '/v1/pets', status: 200, keyId: 1 },
  ],
  [
    { path: '/v1/pets/9', headers: authorization },
    { route: '/v1/pets/:petId', status: 404, keyId: 1 },
  ],
  [{ path: '/v1/pets' }, { route: '/v1/pets', status: 401, keyId: null }],
  [
    { method: 'PUT', path: '/v1/pets', headers: authorization },
    { route: '/v1/pets', status: 405, keyId: 1 },
  ],
  [
    { method: 'POST', path: '/v1/pets', headers: authorization, body: '{}' },
    { route: '/v1/pets', status: 400, keyId: 1 },
  ],
  [{ path: '/livez' }, { route: '/livez', status: 200, keyId: null }],
  [{ path: '/nothing' }, { status: 404, keyId: null }],
] as const satisfies readonly [Sent, object][]) {
  const method = 'method' in sent ? sent.method : 'GET';
  test(`log › ${method} ${sent.path}, answered ${expected.status} › leaves one line with these members`, async () => {
    const { answer, lines } = await sendAndRead(sent);
    assert.equal(lines.length, 1);
    const { level, time, pid, hostname, ms, ...rest } = lines[0] ?? {};
    assert.deepEqual(rest, { method, ...expected, requestId: answer.headers['x-request-id'] });
    assert.equal(level, 30);
    assert.ok(typeof ms === 'number' && ms > 0 && ms < 10_000);
    assert.ok(typeof time === 'number' && typeof pid === 'number' && typeof hostname === 'string');
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
    {
      method: 'POST',
      path: '/v1/pets',
      headers: authorization,
      body: `{"name":"${secret}","categoryId":1}`,
    },
    { method: 'POST', path: '/v1/pets', headers: authorization, body: `{"name":"${secret}"` },
  ];
  for (const sent of sents) {
    const { answer, lines } = await sendAndRead(sent);
    const text = JSON.stringify(lines);
    for (const hidden of [service.key, wrong, secret]) assert.ok(!text.includes(hidden), text);
    assert.ok(!answer.body.includes(service.key) && !answer.body.includes(wrong), answer.body);
  }
});

const REX = '{"name":"Rex","categoryId":3}';
const CAUSE = 'select secret_column from somewhere';

/** The service on the real store, in which each of these methods fails with the error. */
function startBroken(failure: unknown, ...methods: readonly (keyof PetStore)[]): Promise<TestApp> {
  const fail = () => Promise.reject(failure);
  const broken = Object.fromEntries(methods.map((method) => [method, fail]));
  const { store } = service;
  return startTestApp({
    store: { ...store, close: async () => {}, pets: { ...store.pets, ...broken } },
  });
}

for (const [sent, method] of [
  [{ path: '/v1/pets' }, 'listAsJson'],
  [{ path: '/v1/pets/1' }, 'find'],
  [{ method: 'POST', path: '/v1/pets', body: REX }, 'add'],
] as const satisfies readonly [Sent, keyof PetStore][]) {
  const what = `${'method' in sent ? sent.method : 'GET'} ${sent.path}`;

  test(`${what} › a failure that nobody foresaw › answers 500 and logs its cause once`, async () => {
    await using app = await startBroken(new Error(CAUSE), method);
    const { answer, lines } = await sendAndRead({ ...sent, headers: app.authorization }, app);
    assertError(
      answer,
      'internal_error',
      /^the service failed to answer; the X-Request-Id names this request in its log$/,
    );
    assert.ok(!JSON.stringify(answer).includes('secret_column'));
    const failures = lines.filter(({ level }) => level === 50);
    assert.equal(failures.length, 1);
    assert.equal(failures[0]?.requestId, answer.headers['x-request-id']);
    const { message, stack } = Object(failures[0]?.err);
    assert.equal(message, CAUSE);
    assert.match(stack, /log\.test\.ts/);
    assert.equal(lines.filter(({ status }) => status === 500).length, 1);
  });

  test(`${what} › a store that cannot answer in time › answers 503 with Retry-After and logs it`, async () => {
    const cause = new Error(CAUSE);
    await using app = await startBroken(
      new PetstoreError('unavailable', 'the database is busy', { cause }),
      method,
    );
    const { answer, lines } = await sendAndRead({ ...sent, headers: app.authorization }, app);
    assertError(
      answer,
      'unavailable',
      /^the service cannot answer now: try again when Retry-After says$/,
    );
    assert.equal(answer.headers['retry-after'], '1');
    assert.ok(!JSON.stringify(answer).includes('secret_column'));
    assert.equal(lines.filter(({ level }) => level === 50).length, 1);
  });
}

for (const [what, failure] of [
  ['a text', 'broken'],
  ['an error with a status of its own', Object.assign(new Error(CAUSE), { statusCode: 400 })],
  [
    'an error with a code of the framework',
    Object.assign(new Error(CAUSE), { code: 'ECONNRESET' }),
  ],
] as const) {
  test(`GET /v1/pets › a store that throws ${what} › answers 500`, async () => {
    await using app = await startBroken(failure, 'listAsJson');
    const answer = await send(app.port, { path: '/v1/pets', headers: app.authorization });
    assertError(answer, 'internal_error', /^the service failed to answer/);
  });
}

test('log › a refusal that the client caused › is no error in it', async () => {
  for (const sent of [
    { path: '/v1/pets?limit=0', headers: authorization },
    { method: 'POST', path: '/v1/pets', headers: authorization, body: '{' },
    { method: 'POST', path: '/v1/pets', headers: authorization, body: ' '.repeat(70_000) },
    { path: '/%zz' },
  ]) {
    const { lines } = await sendAndRead(sent);
    assert.deepEqual(
      lines.map(({ level }) => level),
      [30],
    );
  }
});
