/** The headers of every answer, the request id, and cross-origin requests. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenBuckets } from '../../src/http/hooks/rate-limit.ts';
import { startSharedApp, startTestApp } from '../support/app.ts';
import { assertJson, type Sent, send } from '../support/request.ts';
import { type Answer, exchange } from '../support/socket.ts';

const service = await startSharedApp();
const { port, authorization } = service;
await service.store.pets.add({ name: 'Rex', categoryId: 3n });

const ORIGIN = 'https://shop.example';
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const PET = '{"name":"Mia","categoryId":7}';

test('headers › the page of the documentation › runs nothing from elsewhere', async () => {
  const { headers } = await send(port, { path: '/docs/' });
  assert.equal(headers['content-type'], 'text/html; charset=utf-8');
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.match(headers['x-request-id'] ?? '', UUID);
  // In a browser, the page complains if this is not the digest of its script.
  assert.match(
    headers['content-security-policy'] ?? '',
    /^default-src 'none'; script-src 'self'( 'sha256-[\w+/=]{44}'){2}; style-src 'unsafe-inline'; .*connect-src 'self'; frame-ancestors 'none'/,
  );
});

test('headers › one that Node does not write › is a 500 with its reason in the log, and others are served', async () => {
  await using broken = await startTestApp({ baseUrl: 'https://petstore.test/\u0100/v1' });
  const { port: its, authorization: headers } = broken;
  const { status } = await send(its, { method: 'POST', path: '/v1/pets', headers, body: PET });
  assert.equal(status, 500);
  assert.equal(broken.log.at(-1)?.code, 'internal_error');
  assert.equal((await send(its, { path: '/livez' })).status, 200);
});

for (const id of ['A_b.c-9', 'x'.repeat(128)]) {
  test(`X-Request-Id › ${id.slice(0, 40)} › is taken over, also by an error`, async () => {
    for (const path of ['/livez', '/v1/pets']) {
      const answer = await send(port, { path, headers: { 'x-request-id': id } });
      assert.equal(answer.headers['x-request-id'], id);
    }
  });
}

const UNSAFE = ['', 'a b', '{"a":1}', 'é', 'x'.repeat(129), ['a', 'b']];

for (const headers of [{}, ...UNSAFE.map((id) => ({ 'x-request-id': id }))]) {
  test(`X-Request-Id › of ${JSON.stringify(headers).slice(0, 40)} › is a new one`, async () => {
    const one = await send(port, { path: '/livez', headers });
    const other = await send(port, { path: '/livez', headers });
    assert.match(one.headers['x-request-id'] ?? '', UUID);
    assert.notEqual(one.headers['x-request-id'], other.headers['x-request-id']);
  });
}

const EXPOSED =
  'Link, Location, Idempotency-Replayed, Deprecation, Sunset, WWW-Authenticate, Retry-After, RateLimit, RateLimit-Policy, Preference-Applied, X-Request-Id';

/** All that answers have, as their RFCs write them. */
const NAMES = [
  ...EXPOSED.split(', '),
  ...['Access-Control-Allow-Headers', 'Access-Control-Allow-Methods'],
  ...['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers', 'Access-Control-Max-Age'],
  ...['Allow', 'Cache-Control', 'Connection', 'Content-Length', 'Content-Security-Policy'],
  ...['Content-Type', 'Date', 'Vary', 'X-Content-Type-Options'],
];

test('headers › their names › are sent in canonical case', async () => {
  const rateLimiter = new TokenBuckets(1, 7, () => 0);
  await using app = await startTestApp({ rateLimiter, corsOrigin: [ORIGIN], rehearse: true });
  const key = `Authorization: Bearer ${app.key}\r\n`;
  const create = `POST /v1/pets HTTP/1.1\r\n${key}Idempotency-Key: a\r\nContent-Length: ${PET.length}`;
  const found = new Set<string>();
  for (const head of [
    create,
    create,
    `POST /v1/pets HTTP/1.1\r\n${key}Content-Length: ${PET.length}`,
    `GET /v1/pets?limit=1 HTTP/1.1\r\n${key}Origin: ${ORIGIN}`,
    `GET /v1/pets/1 HTTP/1.1\r\n${key}X: y`,
    'GET /v1/pets HTTP/1.1\r\nX: y',
    'OPTIONS /v1/pets HTTP/1.1\r\nX: y',
    `OPTIONS /v1/pets HTTP/1.1\r\nOrigin: ${ORIGIN}\r\nAccess-Control-Request-Method: GET`,
    `PUT /v1/pets HTTP/1.1\r\n${key}X: y`,
    'GET /docs HTTP/1.1\r\nX: y',
    `GET /v1/pets HTTP/1.1\r\n${key}Prefer: status=500`,
    'GET / HTTP/9',
    // Above the limit.
    `GET /v1/pets HTTP/1.1\r\n${key}X: y`,
  ]) {
    const body = head.startsWith('POST') ? PET : '';
    const text = await exchange(app.port, `${head}\r\nHost: x\r\nConnection: close\r\n\r\n${body}`);
    const [, ...lines] = text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n');
    for (const line of lines) found.add(line.slice(0, line.indexOf(':')));
  }
  assert.deepEqual([...found].sort(), NAMES.sort());
});

const preflight = (path: string, origin: string): Sent => ({
  ...{ method: 'OPTIONS', path },
  headers: { origin, 'access-control-request-method': 'POST' },
});

function corsOf({ headers }: Answer): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => name.startsWith('access-control-') || name === 'vary',
    ),
  );
}

const READABLE = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED,
};
const ALLOWED = {
  ...READABLE,
  'access-control-allow-methods': 'GET, HEAD, POST',
  'access-control-allow-headers':
    'Authorization, Content-Type, Idempotency-Key, Prefer, X-Request-Id, traceparent, tracestate, baggage',
  'access-control-max-age': '7200',
};
const PREFLIGHT = preflight('/v1/pets', ORIGIN);
const LONG = { ...authorization, origin: ORIGIN, 'content-length': 70_000 };

for (const [what, sent, status, cors] of [
  ['a preflight without a key', PREFLIGHT, 204, ALLOWED],
  ['a preflight of an unknown path', preflight('/v1/nothing', ORIGIN), 204, ALLOWED],
  ['one of another method, which is none', { ...PREFLIGHT, method: 'GET' }, 401, READABLE],
  ['one of no method, which is none', { ...PREFLIGHT, headers: { origin: ORIGIN } }, 401, READABLE],
  [
    'one without Origin, which is none',
    { ...PREFLIGHT, headers: { 'access-control-request-method': 'POST' } },
    401,
    {},
  ],
  ['a list', { path: '/v1/pets', headers: { ...authorization, origin: ORIGIN } }, 200, READABLE],
  ['a long body', { method: 'POST', path: '/v1/pets', headers: LONG }, 413, READABLE],
  ['a request without Origin', { path: '/livez' }, 200, {}],
  ['a bad Host', { path: '/livez', headers: { origin: ORIGIN, host: 'a b' } }, 400, READABLE],
  [
    'a preflight with a bad coding',
    { ...PREFLIGHT, headers: { ...PREFLIGHT.headers, 'transfer-encoding': 'gzip' } },
    400,
    ALLOWED,
  ],
] as const satisfies readonly [string, Sent, number, object][]) {
  test(`CORS › ${what} › answers ${status} with what a page may do`, async () => {
    const answer = await send(port, sent);
    assert.equal(answer.status, status);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    if (status === 204) assert.equal(answer.body, '');
    else assertJson(answer, status);
    assert.equal(answer.headers.connection === 'close', [400, 413].includes(status));
    assert.deepEqual(corsOf(answer), cors);
  });
}

test('CORS › with a list of origins › names a listed one, says nothing to others, and always varies', async () => {
  const corsOrigin = [ORIGIN, 'https://other.example:8443'];
  await using app = await startTestApp({ corsOrigin });
  const ask = async (sent: Sent) => corsOf(await send(app.port, sent));
  const vary = 'Origin';
  for (const origin of corsOrigin) {
    assert.deepEqual(await ask({ path: '/livez', headers: { origin } }), {
      ...{ vary, 'access-control-allow-origin': origin },
      'access-control-expose-headers': EXPOSED,
    });
  }
  const others = ['null', 'http://shop.example', `${ORIGIN}:444`, 'https://SHOP.example', '*'];
  for (const headers of [{}, ...others.map((origin) => ({ origin }))]) {
    assert.deepEqual(await ask({ path: '/livez', headers }), { vary });
  }
  const answer = await send(app.port, preflight('/v1/pets', ORIGIN));
  // A page may send its request only if the preflight has a status of success.
  assert.equal(answer.status, 204);
  const allowed = corsOf(answer);
  assert.equal(allowed['access-control-allow-origin'], ORIGIN);
  assert.equal(allowed['access-control-allow-methods'], 'GET, HEAD, POST');
  assert.deepEqual(await ask(preflight('/v1/pets', 'https://evil.example')), { vary });
});
