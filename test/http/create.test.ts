/** `POST /v1/pets`: which bodies are accepted, in which media types and sizes, and once for each `Idempotency-Key`. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { addKey, startSharedApp } from '../support/app.ts';
import { assertError, assertJson, send } from '../support/request.ts';
import type { Answer } from '../support/socket.ts';

const service = await startSharedApp();
const { port, authorization } = service;

const DOG = '\u{1f436}';
const REX = '{"name":"Rex","categoryId":3}';

function post(body: string | Buffer, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
  return send(port, {
    method: 'POST',
    path: '/v1/pets',
    headers: { ...authorization, ...headers },
    body,
  });
}

/** Asserts a 201 with exactly these members after the id, and the same answer at its Location. */
async function assertCreated(answer: Answer, members: string) {
  assertJson(answer, 201);
  assert.equal(answer.headers.connection, 'keep-alive');
  assert.equal(answer.headers['idempotency-replayed'], undefined);
  const { location = '' } = answer.headers;
  const id = /^\/v1\/pets\/([1-9]\d*)$/.exec(location)?.[1];
  assert.equal(answer.body, `{"id":${id},${members}}`);
  const found = await send(port, { path: location, headers: authorization });
  assertJson(found, 200);
  assert.equal(found.body, answer.body);
}

const ODD = `"name":" \\"${DOG}\\u0001\u00a0","categoryId":-9223372036854775808,"status":"available"`;
const SOLD = '"name":"Rex","categoryId":3,"status":"sold"';
const whole = (digits: string) => `"name":"Rex","categoryId":${digits}`;

for (const [what, body, members] of [
  ['an odd name and the least category', `{${ODD}}`, ODD],
  ['the whole number 1.0', `{${whole('1.0')}}`, whole('1')],
  ['another order and white space', ' {"status":"sold",\r\n"categoryId":3,"name":"Rex"}\n', SOLD],
  ['other members', `{"id":9,"tag":{"name":[1]},${SOLD}}`, SOLD],
  ['a byte order mark', `\ufeff{${SOLD}}`, SOLD],
] as const) {
  test(`POST /v1/pets › with ${what} › answers 201 with the pet, and keeps it`, async () => {
    await assertCreated(await post(body), members);
  });
}

for (const [body, message] of [
  ['{}', /^name is required; categoryId is required$/],
  [
    `{"status":null,"categoryId":"3","name":"${DOG.repeat(256)}"}`,
    /^name must be a string of 1 to 255 characters, not blank[^;]*; categoryId must be a whole number from -9223372036854775808 to 9223372036854775807; status must be one of available, pending, sold$/,
  ],
  ['null', /^body: the JSON must be an object$/],
  [`[${REX}]`, /^body: the JSON must be an object$/],
  [`${REX}${REX}`, /^body: not valid JSON/],
  ['', /^the body is required: a JSON object$/],
  // A sequence that is cut.
  [Buffer.from(REX.replace('Rex', '\xf0\x9f\x90'), 'latin1'), /^the body must be UTF-8$/],
] as const) {
  const shown = JSON.stringify(body.toString('latin1').slice(0, 60));
  test(`POST /v1/pets › with the body ${shown} › answers 400 and says why`, async () => {
    const answer = await post(body);
    assertError(answer, 'bad_request', message);
    assert.equal(answer.headers.location, undefined);
  });
}

const TYPES = [
  ...['application/json', 'Application/JSON', 'application/json;'],
  ...['application/json; charset=utf8', 'application/json; Charset="UTF-8"'],
  'application/json ; charset=utf-8',
].map((type) => ({ 'content-type': type }));

const CHUNKED = { 'transfer-encoding': 'chunked' };

for (const headers of [{}, CHUNKED, ...TYPES, { 'content-encoding': 'Identity' }]) {
  test(`POST /v1/pets › with ${JSON.stringify(headers)} › answers 201`, async () => {
    await assertCreated(await post(REX, headers), REX.slice(1, -1));
  });
}

const TYPE =
  /^Content-Type must be application\/json, with no parameter but charset=utf-8 \(with curl: -H "Content-Type: application\/json"\)$/;
const CODING = /^the body must not be compressed: send it without Content-Encoding$/;

for (const [name, values, message] of [
  [
    'content-type',
    [
      ...['application/x-www-form-urlencoded', 'application/jsonp', 'application/xjson', ''],
      ...['xapplication/json', 'application/json, application/json'],
      ...['application/json; charset=utf-8; charset=latin1', 'application/json; charset="utf-8'],
      'application/json; foo=bar',
    ],
    TYPE,
  ],
  ['content-type', ['application/json; charset="utf-16"'], /^the charset .*, and not "utf-16"$/],
  ['content-type', ['application/json; charset=utf-7'], /^the charset must be .* not "utf-7"$/],
  ['content-encoding', ['gzip', 'identity, gzip', 'gzip, identity'], CODING],
] as const) {
  for (const value of values) {
    test(`POST /v1/pets › with ${name} "${value}" › answers 415 and says what to send`, async () => {
      assertError(await post(REX, { [name]: value }), 'unsupported_media_type', message);
    });
  }
}

test('POST /v1/pets › more than 64 KiB in chunks › answers 413 and says so', async () => {
  const answer = await post(REX.padEnd(65_537), CHUNKED);
  assertError(answer, 'payload_too_large', /^the body must be at most 64 KiB$/);
});

const HEADER = /^Idempotency-Key must be given once, 1 to 255 visible ASCII characters$/;

function postOnce(key: string, body = REX, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
  return post(body, { 'idempotency-key': key, ...headers });
}

/** Asserts that both are the 201 of one pet, the first as it was added, the other as a replay. */
function assertReplay(answer: Answer, first: Answer): void {
  assertJson(answer, 201);
  assert.equal(answer.headers['idempotency-replayed'], 'true');
  assert.equal(first.headers['idempotency-replayed'], undefined);
  assert.equal(answer.body, first.body);
  assert.equal(answer.headers.location, first.headers.location);
}

test('Idempotency-Key › the same pet again, also written otherwise › has the same answer and adds none', async () => {
  const key = randomUUID();
  const first = await postOnce(key);
  await assertCreated(first, REX.slice(1, -1));
  assertReplay(await postOnce(key), first);
  assertReplay(await postOnce(key, '{"categoryId":30e-1, "n\\u0061me":"Rex","tag":null}'), first);
  const { id } = JSON.parse(first.body);
  assert.equal(JSON.parse((await postOnce(randomUUID())).body).id, id + 1);
});

test('Idempotency-Key › another pet › answers 422 and keeps the first, and is added by another API key', async () => {
  const other = `Bearer ${await addKey(service.store, { environment: 'staging' })}`;
  const mia = '{"name":"Mia","categoryId":3}';
  const key = randomUUID();
  const first = await postOnce(key);
  const answer = await postOnce(key, mia);
  assertError(answer, 'idempotency_key_reused', /was sent before with another pet/);
  assert.equal(answer.headers.location, undefined);
  assertJson(await postOnce(key, mia, { authorization: other }), 201);
  assertReplay(await postOnce(key), first);
});

for (const key of ['!', '~', '"8e03978e-40d5"', 'a,b']) {
  test(`Idempotency-Key › ${key} › is taken`, async () => {
    const first = await postOnce(key);
    assertReplay(await postOnce(key), first);
  });
}

for (const fields of ['', ' \t ', 'a b', 'a\tb', 'caf\u00e9', ['a', 'b'], ['a', 'a']]) {
  test(`Idempotency-Key › of ${JSON.stringify(fields)} › answers 400, names it and adds none`, async () => {
    const { id } = JSON.parse((await postOnce(randomUUID())).body);
    assertError(await post(REX, { 'idempotency-key': fields }), 'bad_request', HEADER);
    assert.equal(JSON.parse((await postOnce(randomUUID())).body).id, id + 1);
  });
}
