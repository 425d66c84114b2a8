/** Which requests are let in, what the others are answered, and that the key is checked first. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type ApiKey, createApiKeyText, digestApiKey } from '../../src/api-key.ts';
import { PetstoreError } from '../../src/error.ts';
import { addKey, startTestApp } from '../support/app.ts';
import { countPets } from '../support/count-pets.ts';
import { assertError, assertJson, type Sent, send } from '../support/request.ts';
import { exchange, openConnection, parseAnswer } from '../support/socket.ts';
import { until } from '../support/until.ts';

const PLAIN = 'Bearer realm="petstore"';
const INVALID = 'Bearer realm="petstore", error="invalid_token"';

const service = await startTestApp({ trustProxy: ['127.0.0.1'] });
after(() => service[Symbol.asyncDispose]());
const { port, key, store } = service;

const expired = await addKey(store, { environment: 'staging', expiresAt: Date.now() });
const production = await addKey(store, { environment: 'production' });
const moved = createApiKeyText('staging');
await store.keys.add({
  digest: digestApiKey(moved),
  name: 'moved',
  environment: 'production',
  createdAt: Date.now(),
});
const revoked = await addKey(store, { environment: 'staging' });
const findId = async (text: string) => (await store.keys.find(digestApiKey(text)))?.id ?? 0;
await store.keys.revoke(await findId(revoked), Date.now());

/** Each sends from an address of its own, since not all refusals of one client are logged. */
let clients = 0;

for (const [what, authorization, challenge, reason, known] of [
  ['without a credential', undefined, PLAIN, 'missing'],
  ['with the scheme alone', 'Bearer', PLAIN, 'malformed'],
  ['with another scheme around a good key', `Basic ${key}`, PLAIN, 'malformed'],
  ['with a good key and no scheme', key, PLAIN, 'malformed'],
  ['with a good key glued to the scheme', `Bearer${key}`, PLAIN, 'malformed'],
  ['with an unknown key', `Bearer ${createApiKeyText('staging')}`, INVALID, 'unknown'],
  ['with a malformed key', 'Bearer petstore_stag_', INVALID, 'malformed'],
  ['with a key of a wrong checksum', `Bearer ${key.slice(0, -1)}-`, INVALID, 'malformed'],
  ['with an expired key', `Bearer ${expired}`, INVALID, 'expired', expired],
  ['with a revoked key', `Bearer ${revoked}`, INVALID, 'revoked', revoked],
  ['with a key of another environment', `Bearer ${production}`, INVALID, 'other environment'],
  ['with a key stored for another one', `Bearer ${moved}`, INVALID, 'other environment', moved],
  ['with something behind the key', `Bearer ${key} x`, INVALID, 'malformed'],
  ['with a comma behind the key', `Bearer ${key},`, INVALID, 'malformed'],
  ['with the same good credential twice', [`Bearer ${key}`, `Bearer ${key}`], INVALID, 'malformed'],
  ['with a good and a bad credential', [`Bearer ${key}`, 'Bearer x'], INVALID, 'malformed'],
  ['with a bad and a good credential', ['Bearer x', `Bearer ${key}`], INVALID, 'malformed'],
  ['with an empty field and a good one', ['', `Bearer ${key}`], PLAIN, 'malformed'],
  ['with a good field and an empty one', [`Bearer ${key}`, ''], INVALID, 'malformed'],
] as const) {
  test(`Authorization › ${what} › answers 401 with its challenge and the one body, and logs why`, async () => {
    clients += 1;
    const client = `10.0.0.${clients}`;
    const headers: OutgoingHttpHeaders = { 'x-forwarded-for': client };
    if (authorization !== undefined) headers.Authorization = [authorization].flat();
    const answer = await send(port, { path: '/v1/pets', headers });
    await until(() => service.log.some((line) => line.client === client));
    const line = service.log.find((each) => each.client === client);
    const keyId = known === undefined ? null : await findId(known);
    assert.deepEqual([line?.reason, line?.keyId], [reason, keyId]);
    assertError(answer, 'unauthorized', /^a valid API key is required: send it as Authorization: /);
    assert.equal(answer.headers['www-authenticate'], challenge);
    assert.equal(answer.body, (await send(port, { path: '/v1/pets' })).body);
  });
}

test('Authorization › a good key in the query › is not read', async () => {
  for (const name of ['access_token', 'api_key', 'key', 'authorization']) {
    const answer = await send(port, { path: `/v1/pets?${name}=${key}` });
    assertError(answer, 'unauthorized', /API key/);
    assert.equal(answer.headers['www-authenticate'], PLAIN);
  }
});

for (const scheme of ['Bearer', 'bEaReR', 'Bearer  ']) {
  test(`Authorization › the scheme written "${scheme}" › opens`, async () => {
    const headers = { authorization: `${scheme} ${key}` };
    assertJson(await send(port, { path: '/v1/pets', headers }), 200);
  });
}

/** The service on a store that counts how often it is asked for a key; `find` may take its time. */
async function startCounted(find: (digest: Uint8Array) => Promise<ApiKey | undefined>) {
  const counted = { finds: 0 };
  const keys = {
    ...store.keys,
    find(digest: Uint8Array) {
      counted.finds += 1;
      return find(digest);
    },
  };
  const app = await startTestApp({ store: { ...store, keys } });
  return Object.assign(counted, app);
}

test('Authorization › a key that took the store long to find › is asked for again half a second after it was asked for', async ({
  mock,
}) => {
  let clock = 1_000;
  let ms = 400;
  mock.method(performance, 'now', () => clock);
  await using counted = await startCounted(async (digest) => {
    clock += ms;
    return store.keys.find(digest);
  });
  const sent = { path: '/v1/pets', headers: counted.authorization };
  for (const [later, finds] of [
    [0, 1],
    [99, 1],
    [1, 2],
  ] as const) {
    clock += later;
    assertJson(await send(counted.port, sent), 200);
    assert.equal(counted.finds, finds);
  }
  ms = 500;
  clock += 500;
  assertJson(await send(counted.port, sent), 200);
  assert.equal(counted.finds, 3, 'once for a request without a body');
});

test('Authorization › more than 1,000 keys at once › are not all kept', async ({ mock }) => {
  mock.method(performance, 'now', () => 0);
  const found: ApiKey = { id: 1, name: 'ci', environment: 'staging', createdAt: 1 };
  let isKnown = true;
  await using counted = await startCounted(async () => (isKnown ? found : undefined));
  const keys = Array.from({ length: 1_001 }, () => createApiKeyText('staging'));
  const ask = async (texts: readonly string[]) => {
    for (const text of texts) {
      await send(counted.port, {
        path: '/v1/nothing',
        headers: { authorization: `Bearer ${text}` },
      });
    }
  };
  const [first = ''] = keys;
  await ask([first, ...keys.slice(1, 1_000), first]);
  assert.equal(counted.finds, 1_000);
  await ask(keys.slice(1_000));
  await ask([first]);
  assert.equal(counted.finds, 1_002);
  // Unknown keys do not displace it.
  isKnown = false;
  await ask(keys.slice(1));
  await ask([first]);
  assert.equal(counted.finds, 2_001);
});

test('Authorization › what is no key of this environment › is not looked up in the store', async () => {
  await using counted = await startCounted(store.keys.find);
  for (const text of ['x', `${key}x`, createApiKeyText('production')]) {
    const headers = { authorization: `Bearer ${text}` };
    assertError(await send(counted.port, { path: '/v1/pets', headers }), 'unauthorized', /API key/);
  }
  assert.equal(counted.finds, 0);
});

test('Authorization › the time of last use › is written at most once a minute, and not by a refusal', async () => {
  let now = 1_000_000;
  await using clocked = await startTestApp({ now: () => now });
  const findLastUse = async () => (await clocked.store.keys.list())[0]?.lastUsedAt;
  const assertUsed = async (at: number, expected: number) => {
    now = at;
    await send(clocked.port, { path: '/v1/pets', headers: clocked.authorization });
    await setTimeout(20);
    // The request does not wait for this write, which a busy disk may delay.
    await until(async () => (await findLastUse()) === expected);
  };
  await send(clocked.port, { path: '/v1/pets', headers: { authorization: 'Bearer x' } });
  assert.equal(await findLastUse(), undefined);
  await assertUsed(1_000_000, 1_000_000);
  await assertUsed(1_059_999, 1_000_000);
  await assertUsed(1_060_000, 1_060_000);
  // A clock that jumped ten years ahead, and back.
  const ahead = 1_060_000 + 3.2e11;
  await assertUsed(ahead, ahead);
  // The cached key may still have the time before the jump.
  await assertUsed(1_200_000, 1_200_000);
  await assertUsed(1_259_999, 1_200_000);
});

test('Authorization › a time of last use that cannot be written › leaves a warning a minute in the log, and the answer as it is', async () => {
  const touch = () => Promise.reject(new PetstoreError('unavailable', 'the database is busy'));
  await using broken = await startTestApp({
    store: { ...store, keys: { ...store.keys, touch } },
    now: () => 1_000_000,
  });
  const id = (await store.keys.find(digestApiKey(broken.key)))?.id;
  for (let times = 0; times < 2; times += 1) {
    const answer = await send(broken.port, { path: '/v1/pets', headers: broken.authorization });
    assertJson(answer, 200);
    await setTimeout(20);
  }
  const warnings = broken.log.filter(({ level }) => level === 'warn');
  assert.deepEqual(
    warnings.map(({ keyId, msg }) => ({ keyId, msg })),
    [{ keyId: id, msg: 'time of last use not written' }],
  );
});

test('Authorization › a store of keys that cannot answer › opens nothing', async () => {
  const find = () => Promise.reject(new PetstoreError('unavailable', 'the database is busy'));
  await using broken = await startTestApp({ store: { ...store, keys: { ...store.keys, find } } });
  const answer = await send(broken.port, { path: '/v1/pets', headers: broken.authorization });
  assertError(answer, 'unavailable', /^the service /);
});

const TEXT = { 'content-type': 'text/plain', 'idempotency-key': 'a b' };

const wrong: readonly [string, Sent][] = [
  ['a wrong parameter', { path: '/v1/pets?limit=0' }],
  ['a wrong body', { method: 'POST', path: '/v1/pets', body: '{' }],
  ['a body that is too large', { method: 'POST', path: '/v1/pets', body: 'x'.repeat(70_000) }],
  ['a wrong media type', { method: 'POST', path: '/v1/pets', headers: TEXT, body: 'x' }],
  ['a wrong petId', { path: '/v1/pets/abc' }],
  ['a wrong method', { method: 'DELETE', path: '/v1/pets' }],
  ['OPTIONS', { method: 'OPTIONS', path: '/v1/pets' }],
  ['HEAD', { method: 'HEAD', path: '/v1/pets' }],
  ['a path that is not there', { path: '/v1/nothing' }],
  ['the prefix alone', { path: '/v1' }],
  ['the prefix and a slash', { path: '/v1/' }],
  ['a trailing slash', { path: '/v1/pets/' }],
  ['a doubled slash', { path: '/v1//pets' }],
  ['a bad percent-escape', { path: '/v1/%zz' }],
  ['a bad percent-escape as petId', { path: '/v1/pets/%' }],
  ['an escaped path', { path: '/%76%31/pets' }],
  ['an absolute target', { path: 'http://127.0.0.1/v1/pets' }],
  ['an absolute target elsewhere', { path: 'https://example.com:1/v1/pets/1' }],
  ['a fragment', { path: '/v1/pets#/../livez' }],
  ['an upgrade', { path: '/v1/pets', headers: { connection: 'upgrade', upgrade: 'websocket' } }],
];

for (const [what, sent] of wrong) {
  test(`order of checks › ${what}, without a key › answers 401`, async () => {
    const answer = await send(port, sent);
    assert.equal(answer.headers['www-authenticate'], PLAIN);
    if (sent.method === 'HEAD') assert.equal(answer.status, 401);
    else assertError(answer, 'unauthorized', /API key/);
  });
}

for (const [what, method, path, code] of [
  ['a path before its method and body', 'PUT', '/v1/nothing', 'not_found'],
  ['a method before the media type', 'PUT', '/v1/pets', 'method_not_allowed'],
  ['a method before the petId', 'PUT', '/v1/pets/abc', 'method_not_allowed'],
  ['a media type before the size', 'POST', '/v1/pets', 'unsupported_media_type'],
] as const) {
  test(`order of checks › ${what} › answers ${code}`, async () => {
    const headers = { ...service.authorization, ...TEXT };
    const sent = { method, path, headers, body: 'x'.repeat(70_000) };
    assertError(await send(port, sent), code, /./);
  });
}

const pet = '{"name":"Rex","categoryId":3}';
const expecting = (line: string, authorization: string, type = 'application/json') =>
  `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${authorization}\r\n` +
  `Content-Type: ${type}\r\nExpect: 100-continue\r\nContent-Length: ${pet.length}\r\n\r\n`;

for (const [what, code, head] of [
  ['a bad key', 'unauthorized', expecting('POST /v1/pets', 'Bearer x')],
  ['a wrong method', 'method_not_allowed', expecting('PUT /v1/pets', `Bearer ${key}`)],
  ['a path that is not there', 'not_found', expecting('POST /v1/nothing', `Bearer ${key}`)],
  ['text', 'unsupported_media_type', expecting('POST /v1/pets', `Bearer ${key}`, 'text/plain')],
  [
    'a body that is too long',
    'payload_too_large',
    expecting('POST /v1/pets', `Bearer ${key}`).replace(`${pet.length}\r\n`, '70000\r\n'),
  ],
] as const) {
  test(`Expect: 100-continue › with ${what} › is answered at once and the body not asked for`, async () => {
    assertError(parseAnswer(await exchange(port, head)), code, /./);
  });
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

for (const [expectation, version, isAsked] of [
  ['100-continue', 'HTTP/1.1', true],
  ['100-Continue', 'HTTP/1.1', true],
  // HTTP/1.0 has no such answer.
  ['100-continue', 'HTTP/1.0', false],
  ['wonders', 'HTTP/1.1', false],
  ['x100-continue', 'HTTP/1.1', false],
  ['100-continued', 'HTTP/1.1', false],
] as const) {
  test(`Expect: ${expectation} › in ${version}, with a good key › ${isAsked ? 'asks for' : 'just takes'} the body`, async () => {
    const head = expecting('POST /v1/pets', `Bearer ${key}`)
      .replace('100-continue', expectation)
      .replace('HTTP/1.1', version);
    const text = await exchange(port, head, pet);
    assert.equal(text.startsWith(CONTINUE), isAsked);
    assertJson(parseAnswer(text.replace(CONTINUE, '')), 201);
  });
}

test('Authorization › a key that is revoked while its body is still coming › is refused, and nothing is added', async ({
  mock,
}) => {
  let clock = 0;
  mock.method(performance, 'now', () => clock);
  const late = await addKey(store, { environment: 'staging' });
  const { id = 0 } = (await store.keys.find(digestApiKey(late))) ?? {};
  await using counted = await startCounted(store.keys.find);
  /** The status of a create whose body comes so much later than its head. */
  const add = async (ms: number, meanwhile: () => Promise<unknown>) => {
    clock += 1_000;
    using connection = openConnection(counted.port);
    connection.socket.write(expecting('POST /v1/pets', `Bearer ${late}`));
    await once(connection.socket, 'data');
    await meanwhile();
    clock += ms;
    connection.socket.write(pet);
    const [, ...answer] = (await connection.readToEnd()).split('\r\n\r\n');
    return parseAnswer(answer.join('\r\n\r\n')).status;
  };
  const before = await countPets(store.pets);
  assert.equal(await add(499, async () => {}), 201);
  assert.equal(counted.finds, 1);
  assert.equal(await add(500, async () => {}), 201);
  assert.equal(counted.finds, 3);
  assert.equal(await add(500, () => store.keys.revoke(id, Date.now())), 401);
  assert.equal(await countPets(store.pets), before + 2);
});
