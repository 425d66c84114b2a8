/** `POST /v1/pets`: which bodies are accepted, in which media types and sizes, and the answers. */

import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startTestApp } from '../support/app.ts';
import { assertError, assertJson, type Code, send } from '../support/request.ts';
import { type Answer, exchange, parseAnswer } from '../support/socket.ts';

const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
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
async function assertCreated(answer: Answer, members: string): Promise<void> {
  assertJson(answer, 201);
  assert.equal(answer.headers['idempotency-replayed'], undefined);
  const { location = '' } = answer.headers;
  const id = /^\/v1\/pets\/([1-9]\d*)$/.exec(location)?.[1];
  assert.equal(answer.body, `{"id":${id},${members}}`);
  const found = await send(port, { path: location, headers: authorization });
  assertJson(found, 200);
  assert.equal(found.body, answer.body);
}

for (const [what, json] of [
  ['all members', '"name":"Rex","categoryId":3,"status":"available"'],
  ['no status', '"name":"Rex","categoryId":3'],
  ['the status pending', '"name":"Rex","categoryId":3,"status":"pending"'],
  ['the status sold', '"name":"Rex","categoryId":3,"status":"sold"'],
  ['a name of 1 code point', '"name":"x","categoryId":3'],
  ['a name of 1 astral code point', `"name":"${DOG}","categoryId":3`],
  ['a name of 255 code points', `"name":"${'x'.repeat(255)}","categoryId":3`],
  ['a name of 255 astral code points', `"name":"${DOG.repeat(255)}","categoryId":3`],
  ['white space around the name', '"name":"  Rex\\t\u00a0 ","categoryId":3'],
  [
    'a name with quotes, a backslash and controls',
    '"name":"\\"\\\\\\n\\u0001\\u001f/","categoryId":3',
  ],
  ['a name of 254 spaces and a letter', `"name":"${' '.repeat(254)}x","categoryId":3`],
  ['a name of a zero-width joiner, which is no white space', '"name":"\u200d","categoryId":3'],
  ['a name in a decomposed form', '"name":"e\u0301","categoryId":3'],
  ['a name of markup', '"name":"<b>&amp;\u2028","categoryId":3'],
  ['categoryId 0', '"name":"Rex","categoryId":0'],
  ['a negative categoryId', '"name":"Rex","categoryId":-7'],
  ['the largest int64', '"name":"Rex","categoryId":9223372036854775807'],
  ['the smallest int64', '"name":"Rex","categoryId":-9223372036854775808'],
  ['the first int64 that no double holds', '"name":"Rex","categoryId":9007199254740993'],
] as const) {
  test(`POST /v1/pets › with ${what} › answers 201 with what was sent, and keeps it`, async () => {
    await assertCreated(await post(`{${json}}`), json);
  });
}

for (const [what, sent, kept] of [
  ['1.0', '"categoryId":1.0', '1'],
  ['1e2', '"categoryId":1e2', '100'],
  ['1E+2', '"categoryId":1E+2', '100'],
  ['100e-2', '"categoryId":100e-2', '1'],
  ['-0', '"categoryId":-0', '0'],
  ['0e999999999', '"categoryId":0e999999999', '0'],
  ['9223372036854775807.000', '"categoryId":9223372036854775807.000', '9223372036854775807'],
  ['9.223372036854775807e18', '"categoryId":9.223372036854775807e18', '9223372036854775807'],
] as const) {
  test(`POST /v1/pets › with the categoryId ${what}, which is whole › keeps ${kept}`, async () => {
    await assertCreated(await post(`{"name":"Rex",${sent}}`), `"name":"Rex","categoryId":${kept}`);
  });
}

for (const [what, body] of [
  ['in another order', '{"status":"sold","categoryId":3,"name":"Rex"}'],
  ['with an id', '{"id":999999,"name":"Rex","categoryId":3,"status":"sold"}'],
  [
    'with other members',
    '{"name":"Rex","tag":{"a":[1]},"Name":7,"categoryId":3,"status":"sold","x":null}',
  ],
  [
    'with a member named __proto__',
    '{"__proto__":{"name":"Mia"},"name":"Rex","categoryId":3,"status":"sold"}',
  ],
  ['with the names escaped', '{"\\u006eame":"\\u0052ex","categoryId":3,"status":"s\\u006fld"}'],
  [
    'with white space around',
    ' \r\n\t{ "name" : "Rex" , "categoryId" : 3 , "status" : "sold" }\n ',
  ],
  [
    'with the same member in an inner object',
    '{"x":{"name":1},"name":"Rex","categoryId":3,"status":"sold"}',
  ],
  ['with a byte order mark', '\ufeff{"name":"Rex","categoryId":3,"status":"sold"}'],
] as const) {
  test(`POST /v1/pets › a pet ${what} › is the same pet`, async () => {
    await assertCreated(await post(body), '"name":"Rex","categoryId":3,"status":"sold"');
  });
}

const NAME = /^name must be a string of 1 to 255 characters, not blank/;
const CATEGORY_ID =
  /^categoryId must be a whole number from -9223372036854775808 to 9223372036854775807$/;
const STATUS = /^status must be one of available, pending, sold$/;
const OBJECT = /^a pet must be a JSON object$/;
const JSON_TEXT = /^body: not valid JSON/;

const named = (name: string) => `{"name":${name},"categoryId":3}`;
const categorised = (categoryId: string) => `{"name":"Rex","categoryId":${categoryId}}`;
const withStatus = (status: string) => `{"name":"Rex","categoryId":3,"status":${status}}`;

for (const [bodies, message] of [
  [['{"categoryId":3}', '{"Name":"Rex","categoryId":3}'], /^name is required$/],
  [['{}', '{"id":1}'], /^name is required; categoryId is required$/],
  [
    ['{"status":"Sold","categoryId":1.5,"name":""}'],
    /^name must be [^;]*; categoryId must be [^;]*; status must be one of available, pending, sold$/,
  ],
  [['{"name":"Rex"}', '{"name":"Rex","categoryid":3}'], /^categoryId is required$/],
  [['""', '" "', '"\\t\\n"', '"\\u00a0\\u3000\\u2028"'].map(named), NAME],
  [['"\\u0000"', '"Rex\\u0000"', '"\\u0000Rex"'].map(named), NAME],
  [['"\\ud83d"', '"\\udc36Rex"', '"\\udc36\\ud83d"', '"Rex\\uD83D"'].map(named), NAME],
  [['null', '7', 'true', '["Rex"]', '{"length":3}'].map(named), NAME],
  [[named(`"${'x'.repeat(256)}"`), named(`"${DOG.repeat(256)}"`)], NAME],
  [['null', '"3"', 'true', '[3]', '{"digits":"3"}', '""'].map(categorised), CATEGORY_ID],
  [
    ['1.5', '0.1', '1e-1', '9007199254740992.5', '-0.5', '1e-400', '1e-999999999999'].map(
      categorised,
    ),
    CATEGORY_ID,
  ],
  [['9223372036854775808', '-9223372036854775809', '1e19'].map(categorised), CATEGORY_ID],
  [['1e400', '-1e400', '9223372036854775807.5', '1e999999999999'].map(categorised), CATEGORY_ID],
  [
    ['null', '""', '"Sold"', '" sold"', '0', '["sold"]', '"gone"', '"toString"'].map(withStatus),
    STATUS,
  ],
  [['null', 'true', '3', '"Rex"', '[]', '[{"name":"Rex","categoryId":3}]'], OBJECT],
  [['{', '{"name":"Rex","categoryId":3', `${REX}}`, `${REX}${REX}`, '{"name":}'], JSON_TEXT],
  [["{'name':'Rex'}", '{name:"Rex"}', '{"a":1,}', '{"a":NaN}', '{"a":Infinity}'], JSON_TEXT],
  [['{"a":01}', '{"a":+1}', '{"a":.5}', '{"a":1.}', '{"a":0x1}'], JSON_TEXT],
  [['{"a":"\n"}', '{"a":"\\x"}', '{"a":"\\u12"}', '// {}', ' '], JSON_TEXT],
  [['name=Rex&categoryId=3', 'undefined'], JSON_TEXT],
  [[''], /^the body is required: a JSON object$/],
  [['['.repeat(60_000), '{"a":'.repeat(12_000)], /^body: /],
] as const) {
  for (const body of bodies) {
    const shown = body.length > 60 ? `${body.slice(0, 40)}… of ${body.length}` : body;
    test(`POST /v1/pets › with the body ${JSON.stringify(shown)} › answers 400 and says why`, async () => {
      const answer = await post(body);
      assertError(answer, 'bad_request', message);
      assert.equal(answer.headers.location, undefined);
    });
  }
}

for (const [member, body] of [
  ['name', '{"name":"Rex","name":"Mia","categoryId":3}'],
  ['name', '{"name":"Rex","\\u006eame":"Rex","categoryId":3}'],
  ['categoryId', '{"name":"Rex","categoryId":3,"categoryId":3}'],
  ['status', '{"status":"sold","name":"Rex","categoryId":3,"status":"sold"}'],
  ['other', '{"name":"Rex","other":1,"categoryId":3,"other":2}'],
  ['x', '{"name":"Rex","categoryId":3,"other":[{"x":1,"x":1}]}'],
  ['__proto__', '{"__proto__":1,"name":"Rex","categoryId":3,"__proto__":1}'],
] as const) {
  test(`POST /v1/pets › with ${body} › answers 400 and names the member given twice`, async () => {
    const message = new RegExp(`the member "${member}" is given twice$`);
    assertError(await post(body), 'bad_request', message);
  });
}

for (const [what, bytes] of [
  ['a lone continuation byte', [0x80]],
  ['a cut sequence', [0xf0, 0x9f, 0x90]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['an encoded surrogate', [0xed, 0xa0, 0x80]],
  ['a code point above the last', [0xf4, 0x90, 0x80, 0x80]],
  ['Latin-1', [0xe9]],
] as const) {
  test(`POST /v1/pets › with ${what} in the name › answers 400: the body must be UTF-8`, async () => {
    const body = Buffer.concat([
      Buffer.from('{"name":"Rex'),
      Buffer.from(bytes),
      Buffer.from('","categoryId":3}'),
    ]);
    assertError(await post(body), 'bad_request', /^the body must be UTF-8$/);
  });
}

test('POST /v1/pets › in UTF-16 › answers 400', async () => {
  assertError(await post(Buffer.from(REX, 'utf16le')), 'bad_request', /^body: not valid JSON/);
});

for (const type of [
  undefined,
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json; Charset="utf-8"',
  'application/json ; charset=utf-8',
  'application/json;',
]) {
  test(`POST /v1/pets › with the media type ${type ?? 'of none'} › answers 201`, async () => {
    const headers = type === undefined ? {} : { 'content-type': type };
    await assertCreated(await post(REX, headers), REX.slice(1, -1));
  });
}

const TYPE =
  /^Content-Type must be application\/json, in UTF-8 \(with curl: -H "Content-Type: application\/json"\)$/;

for (const type of [
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
  'text/json',
  'application/jsonp',
  'application/xjson',
  'xapplication/json',
  'application/json-patch+json',
  'application/vnd.api+json',
  'application/json; charset=latin1',
  'application/json; charset=iso-8859-1',
  'application/json; charset=utf-16',
  'application/json; charset=utf-8; charset=latin1',
  'application/json; charset="utf-8',
  'application/json, application/json',
  'application/json, text/plain',
  'application',
  'json',
  '*/*',
  '',
]) {
  test(`POST /v1/pets › with the media type "${type}" › answers 415 and says what to send`, async () => {
    assertError(await post(REX, { 'content-type': type }), 'unsupported_media_type', TYPE);
  });
}

test('POST /v1/pets › with Content-Type twice › answers 415', async () => {
  const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${authorization.authorization}\r\n`;
  const type = 'Content-Type: application/json\r\n';
  const text = await exchange(
    port,
    `${head}${type}${type}Content-Length: ${REX.length}\r\n\r\n${REX}`,
  );
  assertError(parseAnswer(text), 'unsupported_media_type', TYPE);
});

for (const encoding of ['gzip', 'GZIP', 'deflate', 'br', 'identity, gzip', 'gzip, identity']) {
  test(`POST /v1/pets › with Content-Encoding ${encoding} › answers 415 and names it`, async () => {
    const answer = await post(gzipSync(REX), { 'content-encoding': encoding });
    assertError(
      answer,
      'unsupported_media_type',
      /^the body must not be compressed: send it without Content-Encoding$/,
    );
  });
}

for (const encoding of ['identity', 'Identity']) {
  test(`POST /v1/pets › with Content-Encoding ${encoding} › answers 201`, async () => {
    await assertCreated(await post(REX, { 'content-encoding': encoding }), REX.slice(1, -1));
  });
}

const TOO_LARGE = /^the body must be at most 64 KiB$/;
const chunked = { 'transfer-encoding': 'chunked' };

for (const [bytes, headers, code] of [
  [65_536, {}, undefined],
  [65_537, {}, 'payload_too_large'],
  [1_000_000, {}, 'payload_too_large'],
  [65_536, chunked, undefined],
  [65_537, chunked, 'payload_too_large'],
  [1_000_000, chunked, 'payload_too_large'],
] as const satisfies readonly [number, OutgoingHttpHeaders, Code | undefined][]) {
  const how = headers === chunked ? 'chunked' : 'with Content-Length';
  test(`POST /v1/pets › ${bytes} bytes, ${how} › answers ${code ?? '201'}`, async () => {
    const answer = await post(REX.padEnd(bytes), headers);
    if (code === undefined) await assertCreated(answer, REX.slice(1, -1));
    else assertError(answer, code, TOO_LARGE);
  });
}

test('POST /v1/pets › chunks that are empty › answers 400: the body is required', async () => {
  assertError(await post('', chunked), 'bad_request', /^the body is required: a JSON object$/);
});

test('POST /v1/pets › 65,536 characters of more bytes › answers 413, counted on the bytes', async () => {
  const body = `{"x":"${'\u00e9'.repeat(40_000)}","name":"Rex","categoryId":3}`;
  assertError(await post(body), 'payload_too_large', TOO_LARGE);
});

test('POST /v1/pets › a Content-Length over 64 KiB alone › answers 413 before the body comes', async () => {
  const text = await exchange(
    port,
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization.authorization}\r\nContent-Length: 65537\r\n\r\n`,
  );
  assertError(parseAnswer(text), 'payload_too_large', TOO_LARGE);
});

test('POST /v1/pets › with a query › ignores it', async () => {
  const sent = { method: 'POST', path: '/v1/pets?limit=0&status=x', headers: authorization };
  assertJson(await send(port, { ...sent, body: REX }), 201);
});

test('POST /v1/pets › with a base URL › gives the outside Location', async () => {
  await using outside = await startTestApp({ baseUrl: 'https://pets.example/v1/store/v1' });
  const sent = { method: 'POST', path: '/v1/pets', headers: outside.authorization, body: REX };
  const { headers } = await send(outside.port, sent);
  assert.equal(headers.location, 'https://pets.example/v1/store/v1/pets/1');
});
