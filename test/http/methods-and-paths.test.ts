/** Every method on every path, and on paths that are almost one: nothing is served by accident. */

import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { test } from 'node:test';
import { SCRIPT_NAME } from '../../src/http/routes/docs.ts';
import { startSharedApp } from '../support/app.ts';
import { assertError, send } from '../support/request.ts';
import { exchange, parseAnswer } from '../support/socket.ts';

const service = await startSharedApp();
const { port, authorization: headers } = service;
await service.store.pets.add({ name: 'Rex', categoryId: 3n });

const PAGES = [
  ...['/', '/docs', '/docs/', '/docs/recipes/curl.sh', `/docs/js/${SCRIPT_NAME}`, '/console'],
  ...['/console/', '/openapi.json', '/livez', '/readyz'],
];
/** What programs send; one path is tried with each method. */
const USUAL = ['POST', 'DELETE'];
const ALLOW = [
  ['/v1/pets', 'GET, HEAD, POST, OPTIONS'],
  ['/v1/pets/1', 'GET, HEAD, OPTIONS'],
  ['/v1/pets/abc', 'GET, HEAD, OPTIONS'],
  ...PAGES.map((path) => [path, 'GET, HEAD, OPTIONS'] as const),
] as const;

for (const [path, allow] of ALLOW) {
  const served = ['CONNECT', ...allow.split(', ')];
  const methods = path === '/v1/pets' ? METHODS : USUAL;
  for (const method of methods.filter((each) => !served.includes(each))) {
    test(`${method} ${path} › is not served › answers 405 with Allow`, async () => {
      const answer = await send(port, { method, path, headers });
      assertError(answer, 'method_not_allowed', RegExp(allow));
      assert.equal(answer.headers.allow, allow);
    });
  }

  test(`OPTIONS ${path} › no preflight › answers 204 with Allow and no body`, async () => {
    const answer = await send(port, { method: 'OPTIONS', path, headers });
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.allow, allow);
    assert.equal(answer.body, '');
    assert.equal(answer.headers['content-type'], undefined);
  });
}

test('OPTIONS * › of the whole server › answers 204 without a key', async () => {
  const text = await exchange(port, 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const answer = parseAnswer(text);
  assert.equal(answer.status, 204);
  assert.equal(answer.headers.allow, 'GET, HEAD, OPTIONS');
});

for (const path of [
  ...['/v1/pets', '/v1/pets?limit=1', '/v1/pets?limit=0', '/v1/pets/1', '/v1/pets/9'],
  ...['/v1/nothing', '/nothing', ...PAGES],
]) {
  test(`HEAD ${path} › beside GET › has its status and headers and no body`, async () => {
    const sent = { path, headers: { ...headers, 'x-request-id': 'same' } };
    const got = await send(port, sent);
    const answer = await send(port, { ...sent, method: 'HEAD' });
    assert.equal(answer.body, '');
    assert.equal(answer.status, got.status);
    assert.deepEqual({ ...answer.headers, date: '' }, { ...got.headers, date: '' });
    // `send` reads each body as a text.
    if ('content-encoding' in got.headers) return;
    assert.equal(Number(got.headers['content-length']), Buffer.byteLength(got.body));
  });
}

for (const sent of [
  ...['GET /v1/pets/', 'POST /v1/pets/', 'GET /v1/pets/?limit=1', 'GET /v1/pets/1/'],
  ...['PUT /v1//pets', 'GET //', 'GET /v1/'],
]) {
  test(`${sent} › has a slash too many › answers 404 and says so`, async () => {
    const [method = '', path = ''] = sent.split(' ');
    const answer = await send(port, { method, path, headers });
    const message =
      /^there is nothing at this path: it has a slash too many; pets are at \/v1\/pets$/;
    assertError(answer, 'not_found', message);
    assert.equal(answer.headers.deprecation, undefined);
  });
}

for (const path of [
  ...['/v1', '/v1/pets/1/2', '/v1/Pets', '/v1/*', '/v1/pets%2F1', '/v1/pets#f'],
  ...['/v1/%zz', '/v1/pets%', '/v1/%c3%28', '/v1/pets/%ff/', '/v1/../livez', '/v1/./pets'],
  ...['/%c0%af', '/openapi.json/', '/metrics', '/docs/nothing', '/__proto__', '/%00'],
]) {
  test(`GET ${path} › is not there › answers 404, with a key`, async () => {
    const found = await send(port, { path, headers });
    assertError(found, 'not_found', /^there is (?:nothing at this path|no pet with this petId)/);
  });
}

test('GET http://example.com/v1/nothing › is not there › has no slash too many', async () => {
  const found = await send(port, { path: 'http://example.com/v1/nothing', headers });
  assertError(found, 'not_found', /^there is nothing at this path; pets are at/);
});

for (const path of [
  ...['/nothing', '/V1/pets', '//v1/pets', '/pets', '/metrics', '/%zz', '/livez/', '/console//'],
  ...['/console/main.ts', '/console/__proto__', '/docs/js/scalar.js'],
]) {
  test(`GET ${path} › is not there › answers 404 also without a key`, async () => {
    assertError(await send(port, { path }), 'not_found', /^there is nothing at this path/);
  });
}
