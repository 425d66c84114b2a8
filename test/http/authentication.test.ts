/** Which requests are let in, what the others are answered, and that the key is checked first. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { type ApiKey, createApiKeyText, digestApiKey } from '../../src/api-key.ts';
import { PetstoreError } from '../../src/error.ts';
import { createFindKey, createTouch } from '../../src/http/hooks/authenticate.ts';
import { createLog } from '../../src/service/open-log.ts';
import { addKey, startSharedApp, startTestApp } from '../support/app.ts';
import { countPets } from '../support/count-pets.ts';
import { assertError, assertJson, type Sent, send } from '../support/request.ts';
import { exchange, openConnection, parseAnswer } from '../support/socket.ts';
import { nextPoll, until } from '../support/until.ts';

const PLAIN = 'Bearer realm="petstore"';
const INVALID = 'Bearer realm="petstore", error="invalid_token"';

const service = await startSharedApp({ trustProxy: ['127.0.0.1'] });
const { port, key, store } = service;

const expired = await addKey(store, { environment: 'staging', expiresAt: Date.now() });
const production = await addKey(store, { environment: 'production' });
const moved = createApiKeyText('staging');
const newKey = { name: 'moved', environment: 'production', createdAt: 1 } as const;
await store.keys.add({ ...newKey, digest: digestApiKey(moved) });
const revoked = await addKey(store, { environment: 'staging' });
const readOnlyKey = await addKey(store, { environment: 'staging', isReadOnly: true });
const readOnly = { authorization: `Bearer ${readOnlyKey}` };
const findId = async (text: string) => (await store.keys.find(digestApiKey(text)))?.id ?? 0;
await store.keys.revoke(await findId(revoked), Date.now());

/** Each sends from an address of its own, since not all refusals of one client are logged. */
let clients = 0;

for (const [what, authorization, challenge, reason, known] of [
  ['without a credential', undefined, PLAIN, 'missing'],
  ['with another scheme around a good key', `Basic ${key}`, PLAIN, 'malformed'],
  ['with a good key and no scheme', key, PLAIN, 'malformed'],
  ['with an unknown key', `Bearer ${createApiKeyText('staging')}`, INVALID, 'unknown'],
  ['with a key of a wrong checksum', `Bearer ${key.slice(0, -1)}-`, INVALID, 'malformed'],
  ['with an expired key', `Bearer ${expired}`, INVALID, 'expired', expired],
  ['with a revoked key', `Bearer ${revoked}`, INVALID, 'revoked', revoked],
  ['with a key of another environment', `Bearer ${production}`, INVALID, 'other environment'],
  ['with a key stored for another one', `Bearer ${moved}`, INVALID, 'other environment', moved],
  ['with something behind the key', `Bearer ${key} x`, INVALID, 'malformed'],
  ['with the same good credential twice', [`Bearer ${key}`, `Bearer ${key}`], INVALID, 'malformed'],
  ['with an empty field and a good one', ['', `Bearer ${key}`], PLAIN, 'malformed'],
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

for (const scheme of ['bEaReR', 'Bearer  ']) {
  test(`Authorization › the scheme written "${scheme}" › opens`, async () => {
    const headers = { authorization: `${scheme} ${key}` };
    assertJson(await send(port, { path: '/v1/pets', headers }), 200);
  });
}

const KEY: ApiKey = { id: 7, name: 'ci', environment: 'staging', createdAt: 1 };

test('Authorization › a key › is asked for again half a second after it was asked for, and no other text ever', async (t) => {
  const find = t.mock.fn(async () => KEY);
  const findKey = createFindKey({ ...store.keys, find }, 'staging');
  const text = createApiKeyText('staging');
  for (const [sent, at, finds] of [
    [text, 1_000, 1],
    [text, 1_499, 1],
    [text, 1_500, 2],
    ['x', 1_500, 2],
    [`${text}x`, 1_500, 2],
    [createApiKeyText('production'), 1_500, 2],
  ] as const) {
    await findKey(sent, at);
    assert.equal(find.mock.callCount(), finds);
  }
});

test('Authorization › a lookup under way › is shared for half a second, and forgotten once it fails', async () => {
  const lookups: PromiseWithResolvers<ApiKey | undefined>[] = [];
  const find = () => {
    const lookup = Promise.withResolvers<ApiKey | undefined>();
    lookups.push(lookup);
    return lookup.promise;
  };
  const findKey = createFindKey({ ...store.keys, find }, 'staging');
  const text = createApiKeyText('staging');
  const asked = [];
  for (const [at, finds] of [
    [1_000, 1],
    [1_499, 1],
    [1_500, 2],
    [1_501, 2],
  ] as const) {
    asked.push(findKey(text, at));
    assert.equal(lookups.length, finds);
  }
  for (const { reject } of lookups) reject(new PetstoreError('unavailable'));
  for (const one of asked) await assert.rejects(async () => one, { code: 'unavailable' });
  const next = findKey(text, 1_502);
  assert.equal(lookups.length, 3);
  lookups[2]?.resolve(KEY);
  assert.equal(await next, KEY);
});

test('Authorization › a key is looked up › its request counts as no idle connection, until then', async (t) => {
  const asked = Promise.withResolvers<ApiKey | undefined>();
  const keys = { ...store.keys, find: () => asked.promise };
  await using looking = await startTestApp({ store: { ...store, keys } });
  const identify = t.mock.method(looking.app.queue, 'identify');
  const headers = { authorization: `Bearer ${createApiKeyText('staging')}` };
  const sent = send(looking.port, { path: '/v1/pets', headers });
  await until(() => identify.mock.callCount() === 1);
  asked.resolve(undefined);
  assert.equal((await sent).status, 401);
});

test('Authorization › more than 1,000 keys at once › are not all kept', async (t) => {
  let found: ApiKey | undefined = KEY;
  const find = t.mock.fn(async () => found);
  const findKey = createFindKey({ ...store.keys, find }, 'staging');
  const count = async (...texts: string[]) => {
    for (const text of texts) await findKey(text, 0);
    return find.mock.callCount();
  };
  const texts = Array.from({ length: 1_001 }, () => createApiKeyText('staging'));
  const [first = '', last = '', ...others] = texts;
  assert.equal(await count(first, ...others, first), 1_000);
  assert.equal(await count(last, first), 1_002);
  // Unknown keys do not displace it.
  found = undefined;
  assert.equal(await count(...others, first), 2_001);
});

test('Authorization › the time of last use › is written by a request, and not by a refusal', async () => {
  const findLastUse = async (text: string) =>
    (await store.keys.find(digestApiKey(text)))?.lastUsedAt;
  await using clocked = await startTestApp({ store, now: () => 1_000_000 });
  for (const text of [revoked, clocked.key]) {
    await send(clocked.port, { path: '/v1/pets', headers: { authorization: `Bearer ${text}` } });
  }
  // The request does not wait for this write.
  await until(async () => (await findLastUse(clocked.key)) === 1_000_000);
  assert.equal(await findLastUse(revoked), undefined);
});

test('Authorization › times of last use that cannot be written › are tried once a minute, each with a warning', async (t) => {
  const warned: string[] = [];
  const log = createLog('warn', (line) => warned.push(line));
  const write = t.mock.fn(async (_id: number, _at: number) => {
    throw new PetstoreError('unavailable');
  });
  const touch = createTouch({ ...store.keys, touch: write }, log);
  // A clock that jumps ten years ahead, and back.
  const ahead = 1_060_000 + 3.2e11;
  for (const [at, lastUsedAt] of [
    [1_000_000, 0],
    [1_059_999, 0],
    [1_060_000, 1_000_000],
    [1_119_999, 1_060_000],
    [ahead, 1_060_000],
    [1_200_000, ahead],
    [1_259_999, ahead],
    [1_260_000, 1_230_000],
  ] as const) {
    touch({ ...KEY, lastUsedAt }, at);
  }
  const tried = write.mock.calls.map(({ arguments: [, at] }) => at);
  assert.deepEqual(tried, [1_000_000, 1_060_000, ahead, 1_200_000]);
  await nextPoll();
  assert.equal(warned.length, tried.length);
  for (const line of warned) assert.match(line, /"keyId":7,"msg":"time of last use not written"/);
});

const wrong: readonly [string, Sent][] = [
  ['a good key in the query', { path: `/v1/pets?access_token=${key}` }],
  ['a body that is too large', { method: 'POST', path: '/v1/pets', body: 'x'.repeat(70_000) }],
  ['OPTIONS', { method: 'OPTIONS', path: '/v1/pets' }],
  ['a path that is not there', { path: '/v1/nothing' }],
  ['the prefix alone', { path: '/v1' }],
  ['a bad percent-escape', { path: '/v1/%zz' }],
  ['an escaped path', { path: '/%76%31/pets' }],
  ['an absolute target elsewhere', { path: 'https://example.com:1/v1/pets/1' }],
  ['an upgrade', { path: '/v1/pets', headers: { connection: 'upgrade', upgrade: 'websocket' } }],
];

for (const [what, sent] of wrong) {
  test(`order of checks › ${what}, without a key › answers 401`, async () => {
    const answer = await send(port, sent);
    assert.equal(answer.headers['www-authenticate'], PLAIN);
    assertError(answer, 'unauthorized', /API key/);
  });
}

const pet = '{"name":"Rex","categoryId":3}';
const expecting = (line: string, token = key, type = 'application/json', bytes = pet.length) =>
  `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n` +
  `Content-Type: ${type}\r\nExpect: 100-continue\r\nContent-Length: ${bytes}\r\n\r\n`;

for (const [what, line, token, type, code] of [
  ['a key before the path', 'PUT /v1/nothing', 'x', 'text/plain', 'unauthorized'],
  ['a path before the method', 'PUT /v1/nothing', key, 'text/plain', 'not_found'],
  ['a method before the petId', 'PUT /v1/pets/abc', key, 'text/plain', 'method_not_allowed'],
  ['a method before the type', 'PUT /v1/pets', key, 'text/plain', 'method_not_allowed'],
  ['a type before the size', 'POST /v1/pets', key, 'text/plain', 'unsupported_media_type'],
  ['the size', 'POST /v1/pets', key, 'application/json', 'payload_too_large'],
] as const) {
  test(`order of checks › ${what} › answers ${code} at once, and asks for no body`, async () => {
    const text = await exchange(port, expecting(line, token, type, 70_000));
    assertError(parseAnswer(text), code, /./);
  });
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

for (const [expectation, version, isAsked] of [
  ['100-continue', 'HTTP/1.1', true],
  ['100-Continue', 'HTTP/1.1', true],
  // HTTP/1.0 has no such answer.
  ['100-continue', 'HTTP/1.0', false],
  ['wonders', 'HTTP/1.1', false],
] as const) {
  test(`Expect: ${expectation} › in ${version}, with a good key › ${isAsked ? 'asks for' : 'just takes'} the body`, async () => {
    const head = expecting('POST /v1/pets')
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
  const id = await findId(late);
  let findMs = 0;
  const find = mock.fn((digest: Uint8Array, wasFound?: boolean) => {
    clock += findMs;
    return store.keys.find(digest, wasFound);
  });
  const keys = { ...store.keys, find };
  await using app = await startTestApp({ store: { ...store, keys } });
  /** The status of a create whose body comes so much later than its head. */
  const add = async (ms: number, meanwhile: () => Promise<unknown>) => {
    clock += 1_000;
    using connection = openConnection(app.port);
    connection.socket.write(expecting('POST /v1/pets', late));
    await once(connection.socket, 'data');
    await meanwhile();
    clock += ms;
    connection.socket.write(pet);
    const [, ...answer] = (await connection.readToEnd()).split('\r\n\r\n');
    return parseAnswer(answer.join('\r\n\r\n')).status;
  };
  const before = await countPets(store.pets);
  assert.equal(await add(499, async () => {}), 201);
  assert.equal(find.mock.callCount(), 1);
  assert.equal(await add(500, async () => {}), 201);
  assert.equal(find.mock.callCount(), 3);
  findMs = 500;
  assert.equal(await add(499, async () => {}), 201);
  assert.equal(find.mock.callCount(), 4, 'a slow store is asked once');
  const known = find.mock.calls.map(({ arguments: [, wasFound] }) => wasFound);
  assert.deepEqual(known, [false, true, true, true]);
  assert.equal(await add(500, () => store.keys.revoke(id, Date.now())), 401);
  assert.equal(await countPets(store.pets), before + 3);
});

test('a read-only key › lists pets › is answered like any other key', async () => {
  assertJson(await send(port, { path: '/v1/pets', headers: readOnly }), 200);
});

for (const [what, headers, body] of [
  ['adds a pet', {}, pet],
  ['adds one with an Idempotency-Key', { 'idempotency-key': 'a' }, pet],
  ['sends a body that is not JSON', {}, '{'],
] as const) {
  test(`a read-only key › ${what} › answers 403 and adds nothing`, async () => {
    const before = await countPets(store.pets);
    const sent = { method: 'POST', path: '/v1/pets', body };
    const answer = await send(port, { ...sent, headers: { ...readOnly, ...headers } });
    assertError(answer, 'forbidden', /^this API key is read-only: use a key that may write$/);
    assert.equal(await countPets(store.pets), before);
  });
}
