/** What the HTTP parser refuses, byte by byte: each answer has the Error shape, and the connection is closed. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { countPets } from '../support/count-pets.ts';
import { assertError, assertJson, type Code, send } from '../support/request.ts';
import { exchange, openConnection, parseAnswer } from '../support/socket.ts';
import { until } from '../support/until.ts';

const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
const { port, key, authorization, store } = service;

const REX = '{"name":"Rex","categoryId":3}';
const CHUNKED = `${REX.length.toString(16)}\r\n${REX}\r\n0\r\n\r\n`;
const AUTHORIZATION = `Authorization: Bearer ${key}\r\n`;
const HOST = 'Host: x\r\n';
const CLOSE = 'Connection: close\r\n';

const get = (fields: string, version = 'HTTP/1.1') =>
  `GET /v1/pets ${version}\r\n${AUTHORIZATION}${fields}\r\n`;
const post = (fields: string, body: string, version = 'HTTP/1.1') =>
  `POST /v1/pets ${version}\r\n${HOST}${AUTHORIZATION}${fields}\r\n${body}`;
const coded = (coding: string, body = CHUNKED) => post(`Transfer-Encoding: ${coding}\r\n`, body);
const sized = (fields: string) => post(fields, REX);

const good = sized(`Content-Length: ${REX.length}\r\n`);

/** A request whose line and fields have this many bytes, counted as the parser does: without their punctuation. */
const padded = (bytes: number) => get(`${HOST}X: ${'x'.repeat(bytes)}\r\n`);

const MALFORMED = /^the request is not well-formed HTTP\/1\.1: \w/;
const BAD_HOST = /^Host must be given once, as host or host:port$/;
const BAD_VERSION = /^the version must be HTTP\/1\.0 or HTTP\/1\.1$/;
const BAD_TARGET = /^the request target must be a path$/;
const BAD_CODING = /^Transfer-Encoding must be chunked, given once and in HTTP\/1\.1$/;
const HEADERS = /^the request line and headers must be at most 16 KiB, in 100 fields$/;

const refused: readonly [Code, RegExp, readonly (readonly [what: string, sent: string])[]][] = [
  [
    'bad_request',
    MALFORMED,
    [
      ['no HTTP at all', 'garbage\r\n\r\n'],
      ['TLS on a plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
      ['an unknown method', `BREW /v1/pets HTTP/1.1\r\n${HOST}\r\n`],
      ['line feeds alone', 'GET /livez HTTP/1.1\nHost: x\n\n'],
      ['U+0000 in a field', get(`${HOST}X: a\0b\r\n`)],
      ['a folded field', get(`${HOST}X: a\r\n b\r\n`)],
      ['a space before a colon', get('Host : x\r\n')],
      ['the coding chunked before gzip', coded('chunked, gzip')],
      ['Transfer-Encoding twice', coded('chunked\r\nTransfer-Encoding: chunked')],
      ['the same Content-Length twice', sized('Content-Length: 29\r\nContent-Length: 29\r\n')],
      ['a huge Content-Length', sized('Content-Length: 99999999999999999999\r\n')],
      ['both lengths, chunked first', coded('chunked\r\nContent-Length: 29')],
      ['both lengths, chunked last', sized('Content-Length: 29\r\nTransfer-Encoding: chunked\r\n')],
      ['a chunk size of no digits', coded('chunked', 'zz\r\n')],
      ['chunk extensions over 16 KiB', coded('chunked', `1;${'x'.repeat(17_000)}\r\n`)],
      ['a chunk longer than its size', coded('chunked', '1\r\nab\r\n')],
    ],
  ],
  ['bad_request', BAD_VERSION, [['the version 2.0', `GET /livez HTTP/2.0\r\n${HOST}\r\n`]]],
  [
    'bad_request',
    BAD_TARGET,
    [
      ['an absolute target without a host', `GET https:// HTTP/1.1\r\n${HOST}\r\n`],
      ['an absolute target with a bad port', `GET http://x:y/v1/pets HTTP/1.1\r\n${HOST}\r\n`],
      ['the target *', `GET * HTTP/1.1\r\n${HOST}\r\n`],
      ['a target behind *', `OPTIONS *x HTTP/1.1\r\n${HOST}${CLOSE}\r\n`],
    ],
  ],
  [
    'bad_request',
    BAD_HOST,
    [
      ['no Host', get('')],
      ['an empty Host', get('Host:\r\n')],
      ['two Hosts', get('Host: x\r\nHost: y\r\n')],
      ['the same Host twice', get(HOST + HOST)],
      ['two Hosts in HTTP/1.0', get(HOST + HOST, 'HTTP/1.0')],
      ['a Host with a space', get('Host: a b\r\n')],
      [
        'a Host with a space, and a body',
        sized(`Content-Length: ${REX.length}\r\n`).replace(HOST, 'Host: a b\r\n'),
      ],
      ['a Host with a path', get('Host: a/b\r\n')],
      ['a Host with a user', get('Host: a@b\r\n')],
      ['a Host with a bad port', get('Host: a:b\r\n')],
      ['a Host with a bad escape', get('Host: a%zz\r\n')],
      ['no Host on a path without a key', 'GET /livez HTTP/1.1\r\n\r\n'],
    ],
  ],
  [
    'bad_request',
    BAD_CODING,
    [
      ['the coding gzip', coded('gzip')],
      ['the coding identity', coded('identity')],
      ['the coding chunked behind gzip', coded('gzip, chunked')],
      ['chunked in HTTP/1.0', post('Transfer-Encoding: chunked\r\n', CHUNKED, 'HTTP/1.0')],
      ['the coding Chunked, in another case', coded('Chunked')],
    ],
  ],
  [
    'payload_too_large',
    /^the body must be at most 64 KiB$/,
    [['a Content-Length over 64 KiB', sized('Content-Length: 65537\r\n')]],
  ],
  [
    'headers_too_large',
    HEADERS,
    [
      ['101 fields', get(`${HOST}${'a:\r\n'.repeat(99)}`)],
      ['a field over 16 KiB', padded(17_000)],
      ['many fields over 16 KiB', get(`${HOST}${'X: yyyyyyyyyy\r\n'.repeat(1_600)}`)],
      ['a target over 16 KiB', `GET /${'a'.repeat(17_000)} HTTP/1.1\r\n${HOST}\r\n`],
    ],
  ],
];

for (const [code, message, requests] of refused) {
  for (const [what, text] of requests) {
    test(`parser › ${what} › answers ${code} and closes, and no create behind it is executed`, async () => {
      const before = await countPets(store.pets);
      const answer = parseAnswer(await exchange(port, text + good, good));
      assert.equal(await countPets(store.pets), before);
      assertError(answer, code, message);
      assert.equal(answer.headers.connection, 'close');
      assert.equal(answer.headers.allow, undefined);
      assert.equal(Number(answer.headers['content-length']), Buffer.byteLength(answer.body));
      assert.ok(Math.abs(Date.parse(answer.headers.date ?? '') - Date.now()) < 60_000);
    });
  }
}

for (const [what, text, status] of [
  ['HTTP/1.0 without Host', get('', 'HTTP/1.0'), 200],
  ['HTTP/1.0 with Host', get(HOST, 'HTTP/1.0'), 200],
  ['a Host with a port', get(`Host: example.com:8080\r\n${CLOSE}`), 200],
  ['a Host with an empty port', get(`Host: x:\r\n${CLOSE}`), 200],
  ['an IPv6 Host', get(`Host: [::1]:8080\r\n${CLOSE}`), 200],
  ['empty lines in front', `\r\n\r\n${get(HOST + CLOSE)}`, 200],
  [
    'field names in upper case',
    `GET /v1/pets HTTP/1.1\r\n${(HOST + CLOSE).toUpperCase()}AUTHORIZATION: Bearer ${key}\r\n\r\n`,
    200,
  ],
  ['headers of almost 16 KiB', get(`${HOST}${CLOSE}X: ${'x'.repeat(16_000)}\r\n`), 200],
  ['100 fields', get(`${HOST}${CLOSE}${'a:\r\n'.repeat(97)}`), 200],
  ['a chunked body', coded(`chunked\r\n${CLOSE.trim()}`), 201],
  [
    'chunk extensions and trailers',
    coded(`chunked\r\n${CLOSE.trim()}`, `1d;x=y\r\n${REX}\r\n0\r\nX: y\r\n\r\n`),
    201,
  ],
  [
    'a trailer named Authorization',
    coded(`chunked\r\n${CLOSE.trim()}`, `1d\r\n${REX}\r\n0\r\nAuthorization: x\r\n\r\n`),
    201,
  ],
  [
    'an upgrade that is not served',
    get(`${HOST}Connection: close, upgrade\r\nUpgrade: h2c\r\n`),
    200,
  ],
  ['a Content-Length on GET', `${get(`${HOST}${CLOSE}Content-Length: 2\r\n`)}{}`, 200],
] as const) {
  test(`parser › ${what} › is answered like any other request`, async () => {
    const answer = parseAnswer(await exchange(port, text));
    assertJson(answer, status);
    // The list, or the pet that was added.
    const path = answer.headers.location ?? '/v1/pets';
    assert.equal(answer.body, (await send(port, { path, headers: authorization })).body);
  });
}

for (const [what, field, code, message] of [
  ['a second Authorization', AUTHORIZATION, 'unauthorized', /API key/],
  ['a second Host', HOST, 'bad_request', BAD_HOST],
  [
    'a second Content-Type',
    'Content-Type: application/json\r\n',
    'unsupported_media_type',
    /^Content-Type must be application\/json/,
  ],
] as const) {
  test(`parser › ${what} as the field of number 100 › is seen`, async () => {
    const fields = `${CLOSE}Content-Type: application/json\r\nContent-Length: ${REX.length}\r\n`;
    const text = post(`${fields}${'a:\r\n'.repeat(94)}${field}`, REX);
    assertError(parseAnswer(await exchange(port, text)), code, message);
  });
}

for (const [what, broken, message] of [
  ['a body that breaks off', coded('chunked', 'zz\r\n'), MALFORMED],
  ['a body that is too long', coded('chunked', '1\r\nab\r\n'), MALFORMED],
] as const) {
  test(`parser › ${what} › is logged as a refusal of its operation, once`, async () => {
    await using own = await startTestApp();
    const sent = broken.replace(key, own.key);
    assertError(parseAnswer(await exchange(own.port, sent)), 'bad_request', message);
    assert.deepEqual(
      own.log.map(({ route, keyId, status }) => [route, keyId, status]),
      [['/v1/pets', 1, 400]],
    );
  });
}

test('keep-alive › requests that are refused › leave the connection to the next one', async () => {
  const requests = [
    post('Content-Length: 1\r\n', '{'),
    post('Content-Type: text/plain\r\nContent-Length: 1\r\n', '{'),
    `GET /v1/pets?limit=0 HTTP/1.1\r\n${HOST}${AUTHORIZATION}\r\n`,
    `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: ${REX.length}\r\n\r\n${REX}`,
    `PUT /v1/pets HTTP/1.1\r\n${HOST}${AUTHORIZATION}Content-Length: ${REX.length}\r\n\r\n${REX}`,
    `GET /v1/nothing HTTP/1.1\r\n${HOST}${AUTHORIZATION}\r\n`,
    sized(`${CLOSE}Content-Length: ${REX.length}\r\n`),
  ];
  using connection = openConnection(port);
  const statuses: number[] = [];
  for (const request of requests) {
    const next = once(connection.socket, 'data');
    connection.socket.write(request);
    statuses.push(parseAnswer(String((await next)[0])).status);
  }
  assert.deepEqual(statuses, [400, 415, 400, 401, 405, 404, 201]);
});

for (const [what, leave] of [
  ['goes away', (socket: Socket) => socket.destroy()],
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
] as const) {
  test(`parser › a client that ${what} in its body › has a line that says so, and is no failure`, async () => {
    await using app = await startTestApp();
    const accepted = once(app.app.server, 'request');
    const socket = connect(app.port, '127.0.0.1');
    const fields = `${HOST}Authorization: Bearer ${app.key}\r\nContent-Length: 100\r\n`;
    socket.write(`POST /v1/pets HTTP/1.1\r\n${fields}\r\n{`);
    const [request] = await accepted;
    await once(request, 'resume');
    leave(socket);
    await until(() => app.log.some(({ route }) => route === '/v1/pets'));
    assert.equal(app.log.find(({ route }) => route !== undefined)?.reason, 'the request broke off');
    assert.ok(app.log.every(({ level }) => level === 'info'));
  });
}

test('parser › a client that resets in its head › leaves no line in the log, and the service lives', async () => {
  // The log of the others may have a late line of a test before.
  await using own = await startTestApp();
  const accepted = once(own.app.server, 'connection');
  const socket = connect(own.port, '127.0.0.1');
  socket.write('GET /livez HTTP/1.1\r\n');
  const [server] = (await accepted) as [Socket];
  await until(() => server.bytesRead > 0);
  const closed = once(server, 'close');
  socket.resetAndDestroy();
  await assert.rejects(closed, { code: 'ECONNRESET' });
  await until(() => server.closed);
  assert.deepEqual(own.log, []);
  assertJson(await send(own.port, { path: '/livez' }), 200);
});

test('parser › a client that ends in a body that is refused already › gets no second answer, and the end', async () => {
  using connection = openConnection(port, { allowHalfOpen: true });
  connection.socket.write(`POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: 9\r\n\r\n{`);
  await once(connection.socket, 'data');
  connection.socket.end();
  const [refusal = '', ...more] = (await connection.readToEnd()).split(/(?=HTTP\/1\.1 \d{3} )/);
  assertError(parseAnswer(refusal), 'unauthorized', /API key/);
  assert.deepEqual(more, []);
});

test('parser › CONNECT from a client that resets › does not end the service', async () => {
  for (let round = 0; round < 100; round += 1) {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const before = round % 2 === 0 ? '' : get(HOST);
    socket.write(`${before}CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n`);
    socket.resetAndDestroy();
  }
  const answer = parseAnswer(await exchange(port, get(HOST + CLOSE)));
  assert.equal(answer.status, 200);
});
