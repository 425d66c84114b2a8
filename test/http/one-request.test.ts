/** One request of a connection is at work: what comes behind it is dropped, and the connection ends after its answer. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { BodyRequest } from '../../src/http/protocol/body.ts';
import { createOneRequestServer } from '../../src/http/protocol/one-request.ts';
import { handleServerEvents } from '../../src/http/protocol/parser-errors.ts';
import { RequestLog } from '../../src/http/request-log.ts';
import { SCRIPT_NAME } from '../../src/http/routes/docs.ts';
import { createLog } from '../../src/service/open-log.ts';
import { startSharedApp, startTestApp } from '../support/app.ts';
import { countPets } from '../support/count-pets.ts';
import { assertError, assertJson } from '../support/request.ts';
import { exchange, listen, openConnection, parseAnswer, writeForEver } from '../support/socket.ts';
import { until } from '../support/until.ts';

const service = await startSharedApp({ rehearse: true });
const { port, key, store } = service;

const FIELDS = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
const get = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\n${FIELDS}${fields}\r\n`;
const BODY = '{"name":"Rex","categoryId":1}';
const post = (fields = '') =>
  `POST /v1/pets HTTP/1.1\r\n${FIELDS}${fields}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
const LIST = get('/v1/pets');
const CHUNKED = `POST /v1/pets HTTP/1.1\r\n${FIELDS}Transfer-Encoding: chunked\r\n\r\n1d\r\n${BODY}\r\n0\r\n\r\n`;
const UPGRADE = 'Connection: upgrade\r\nUpgrade: h2c\r\n';
/** The path of the longest answer, which is longer than what the kernel keeps of it. */
const SCRIPT = `/docs/js/${SCRIPT_NAME}`;
/** What the kernel and Node may have read before the reading stops. */
const READ_BYTES_MAX = 1024 * 1024 + 4 * 64 * 1024;

const countAnswers = (text: string) => text.match(/HTTP\/1\.1 \d{3} /g)?.length;

for (const [first, request, status] of [
  ['a list', LIST, 200],
  ['a create', post(), 201],
  ['an upgrade in chunks', CHUNKED.replace('\r\n', `\r\n${UPGRADE}`), 201],
] as const) {
  for (const [what, behind] of [
    ['a create', post()],
    ['a body without an end', post().slice(0, -1)],
    ['garbage', '\x01'.repeat(1_000)],
    ['CONNECT', 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an upgrade', get('/v1/pets', UPGRADE)],
    ['1 MB of requests', LIST.repeat(8_000)],
  ] as const) {
    test(`one request › ${what} behind ${first} at work › is dropped, and the connection ends`, async () => {
      const before = await countPets(store.pets);
      const text = await exchange(port, request + behind);
      const answer = parseAnswer(text);
      assertJson(answer, status);
      assert.equal(answer.headers.connection, 'close');
      assert.equal(countAnswers(text), 1);
      assert.equal(await countPets(store.pets), before + Number(status === 201));
    });
  }
}

test('one request › a request that comes while the answer before it is sent › is dropped, and the answer is whole', async () => {
  const answers: ServerResponse[] = [];
  const server = createOneRequestServer({ IncomingMessage: BodyRequest }, (_request, response) => {
    answers.push(response);
    response.write('first part, ');
  });
  handleServerEvents(server, new RequestLog(createLog('silent', () => undefined)));
  const serverPort = await listen(server);
  using connection = openConnection(serverPort);
  connection.socket.write(LIST);
  await once(connection.socket, 'data');
  const upgraded = once(server, 'upgrade');
  connection.socket.write(LIST);
  await upgraded;
  answers[0]?.end('last part');
  assert.match(await connection.readToEnd(), /first part, .*last part/s);
  assert.equal(answers.length, 1);
  server.close();
});

for (const what of ['garbage', 'requests'] as const) {
  for (const [first, head] of [
    ['an answer that nobody reads', get(SCRIPT) + get(SCRIPT)],
    ['an upgrade that is delayed', get('/v1/pets', `${UPGRADE}Prefer: delay=2\r\n`)],
  ] as const) {
    test(`one request › ${what} without end, behind ${first} › are not read`, async () => {
      const accepted = once(service.app.server, 'connection');
      using connection = openConnection(port);
      const [accepting] = (await accepted) as [Socket];
      connection.socket.pause();
      connection.socket.write(head);
      await until(() => accepting.bytesRead === head.length);
      const part = Buffer.from(what === 'garbage' ? '\x01'.repeat(65_536) : LIST.repeat(500));
      writeForEver(connection.socket, part);
      await once(accepting, 'close');
      assert.ok(accepting.bytesRead < READ_BYTES_MAX, `${accepting.bytesRead} bytes`);
    });
  }
}

for (const [method, rest] of [
  ['DESCRIBE', '/v1/pets RTSP/1.1'],
  ['CONNECT', 'x:80 HTTP/1.1'],
] as const) {
  test(`a method that cannot be routed › ${method} › is 405, and a line of the log`, async () => {
    await using own = await startTestApp();
    const answer = parseAnswer(await exchange(own.port, `${method} ${rest}\r\nHost: x\r\n\r\n`));
    assertError(answer, 'method_not_allowed', new RegExp(`^${method} is not served$`));
    assert.equal(answer.headers.allow, 'GET, HEAD, POST, OPTIONS');
    const { time, pid, ...line } = own.log.at(-1) ?? {};
    const { message: reason, ...body } = JSON.parse(answer.body);
    const requestId = answer.headers['x-request-id'];
    const from = { level: 'info', client: '127.0.0.1', keyId: null };
    assert.deepEqual(line, { ...from, ...body, reason, requestId });
  });
}

for (const [what, request, expected] of [
  ['a list', LIST, 200],
  ['a create in chunks', CHUNKED, 201],
  ['a request without a key', 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n', 401],
  ['a long answer', get(SCRIPT), 200],
  ['an upgrade', get('/v1/pets', UPGRADE), 200],
  ['a body without its end', post().slice(0, -1), 400],
  ['a head without its end', LIST.slice(0, -2), 400],
] as const) {
  test(`half-closed › a client that ends its side after ${what} › gets its answer, and the end`, async () => {
    using connection = openConnection(port, { allowHalfOpen: true });
    connection.socket.end(request);
    const received = await connection.readToEnd(20_000);
    assert.equal(parseAnswer(received).status, expected);
    assert.equal(countAnswers(received), 1);
    await until(() => service.app.readConnections().connections === 0);
  });
}

test('half-closed › a client that ends its side between two requests › gets the end', async () => {
  using connection = openConnection(port, { allowHalfOpen: true });
  connection.socket.write(LIST);
  await once(connection.socket, 'data');
  connection.socket.end();
  assert.equal(countAnswers(await connection.readToEnd()), 1);
  await until(() => service.app.readConnections().connections === 0);
});
