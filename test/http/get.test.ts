/** `GET /v1/pets/{petId}`: which ids are valid, and its deprecation, sunset and retirement. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCursor } from '../../src/http/cursor.ts';
import { startSharedApp, startTestApp, type TestApp } from '../support/app.ts';
import { assertError, assertJson, send } from '../support/request.ts';
import type { Answer } from '../support/socket.ts';

/** From the sunset on it still answers: only the operator retires it. */
const service = await startSharedApp({ now: () => Date.UTC(2030, 11, 5) });
await service.store.pets.add({ name: 'Rex', categoryId: 3n, status: 'sold' });
await service.store.pets.add({ name: 'Mia', categoryId: 7n });

function get(
  petId: string,
  { port, authorization } = service as TestApp,
  method = 'GET',
): Promise<Answer> {
  return send(port, { method, path: `/v1/pets/${petId}`, headers: authorization });
}

function assertDeprecated({ headers }: Answer): void {
  assert.partialDeepStrictEqual(headers, {
    deprecation: '@1795219200',
    sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    link: '</docs>; rel="deprecation"; type="text/html"',
  });
}

for (const [petId, body] of [
  ['1', '{"id":1,"name":"Rex","categoryId":3,"status":"sold"}'],
  ['2', '{"id":2,"name":"Mia","categoryId":7}'],
  ['%31', '{"id":1,"name":"Rex","categoryId":3,"status":"sold"}'],
  ['1?id=2&petId=2', '{"id":1,"name":"Rex","categoryId":3,"status":"sold"}'],
] as const) {
  test(`GET /v1/pets/${petId} › a pet that is there › is answered, as deprecated`, async () => {
    const answer = await get(petId);
    assertJson(answer, 200);
    assertDeprecated(answer);
    assert.equal(answer.body, body);
  });
}

for (const petId of [
  ...['3', '0', '-1', '9223372036854775807', '9223372036854775808', '9'.repeat(15_000)],
  // The longest id that the router gets: each `#` comes to it as three characters.
  `${'#'.repeat(15_000)}%`,
  ...['%23'.repeat(5_000), 'abc', '01', '1.0', '-0', '1%20', '%EF%BC%91', '1%2F', '..%2F1'],
]) {
  const shown = petId.length > 40 ? `${petId.length} times ${petId[0]}` : petId;
  test(`GET /v1/pets/${shown} › no pet has this id › answers 404, as deprecated`, async () => {
    const answer = await get(petId);
    assertError(answer, 'not_found', /^there is no pet with this petId$/);
    assertDeprecated(answer);
  });
}

test('GET /v1/pets/{petId} › an id that no double holds › is exact in the body, the links and back', async () => {
  await using app = await startTestApp();
  const ids = [9_007_199_254_740_993n, 9_007_199_254_740_995n];
  await app.store.pets.merge(
    (async function* () {
      for (const id of ids) yield { id, name: 'Rex', categoryId: id };
    })(),
  );
  const found = '{"id":9007199254740993,"name":"Rex","categoryId":9007199254740993}';
  assert.equal((await get('9007199254740993', app)).body, found);
  assert.equal((await get('9007199254740992', app)).status, 404);
  const headers = app.authorization;
  const first = await send(app.port, { path: '/v1/pets?limit=1', headers });
  assert.equal(first.body, `[${found}]`);
  const path = /<(.*?)>/.exec(first.headers.link ?? '')?.[1] ?? '';
  assert.match((await send(app.port, { path, headers })).body, /^\[\{"id":9007199254740995,/);
  const sent = { method: 'POST', path: '/v1/pets', headers, body: '{"name":"Mia","categoryId":1}' };
  assert.match((await send(app.port, sent)).body, /^\{"id":9007199254740996,/);
});

test('/v1/pets › with a base URL › names the outside Location, documentation and next page', async () => {
  const base = 'https://pets.example/v1/store';
  await using app = await startTestApp({ baseUrl: `${base}/v1` });
  const { port, authorization: headers } = app;
  const sent = { method: 'POST', path: '/v1/pets', headers, body: '{"name":"Mia","categoryId":1}' };
  await send(port, sent);
  assert.equal((await send(port, sent)).headers.location, `${base}/v1/pets/2`);
  const docs = `<${base}/docs>; rel="deprecation"; type="text/html"`;
  assert.equal((await get('1', app)).headers.link, docs);
  const next = `<${base}/v1/pets?limit=1&cursor=${createCursor(1n)}>; rel="next"`;
  const { link } = (await send(port, { path: '/v1/pets?limit=1', headers })).headers;
  assert.equal(link, next);
});

test('GET /v1/pets/{petId} › once it is retired › answers 410, and leaves the list, the key and the 405', async () => {
  await using app = await startTestApp({ retireGetPet: true });
  const { port, authorization: headers } = app;
  for (const petId of ['1', 'abc']) {
    const answer = await get(petId, app);
    assertError(answer, 'gone', /use GET \/v1\/pets instead$/);
    assertDeprecated(answer);
    assert.equal((await get(petId, app, 'HEAD')).status, 410);
  }
  assertJson(await send(port, { path: '/v1/pets', headers }), 200);
  assertError(await send(port, { path: '/v1/pets/1' }), 'unauthorized', /API key/);
  // The document is the same with and without the option, and true of both.
  const { info, paths } = JSON.parse((await send(port, { path: '/openapi.json' })).body);
  for (const { description } of [info, paths['/pets/{petId}'].get]) {
    assert.match(description, /The operator may remove it before: then it answers 410\./);
  }
  const wrong = await send(port, { method: 'DELETE', path: '/v1/pets/1', headers });
  assertError(wrong, 'method_not_allowed', /GET/);
});
