/** Answers that come before the end of the body: the client sees them, and cannot send without end. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { mock, test } from 'node:test';
import { startSharedApp } from '../support/app.ts';
import { exchange, openConnection, parseAnswer, writeForEver } from '../support/socket.ts';
import { until } from '../support/until.ts';

const service = await startSharedApp();
const { port, key } = service;

const HOST = 'Host: x\r\n';
const POST = `POST /v1/pets HTTP/1.1\r\n${HOST}`;
const MINE = `${POST}Authorization: Bearer ${key}\r\n`;
const CLOSE = 'Connection: close\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const LONG = 'Content-Length: 100000000\r\n';
const UPGRADE = 'Connection: upgrade\r\nUpgrade: h2c\r\n';
const MIB = Buffer.alloc(1024 * 1024, '{');
const CHUNK = Buffer.concat([Buffer.from('100000\r\n'), MIB, Buffer.from('\r\n')]);
const REQUESTS = Buffer.from(`GET /livez HTTP/1.1\r\n${HOST}\r\n`.repeat(30_000));
const LINGER_BYTES_MAX = 1024 * 1024;
/** Before the answer: the head, a body up to its bound, the read that goes above it, and one more until it pauses. */
const READ_BYTES_MAX = LINGER_BYTES_MAX + 1024 + 3 * 64 * 1024;

/** The sockets of the service, by the port of the client. */
const accepted = new Map<number | undefined, Socket>();
service.app.server.on('connection', (socket) => accepted.set(socket.remotePort, socket));

/** What ends a lingering close after 2 s: only a test calls it, since a busy machine may need this time to read. */
const cuts: (() => void)[] = [];
const { setTimeout: set } = globalThis;
mock.method(globalThis, 'setTimeout', (run: () => void, ms: number, ...rest: []) => {
  if (ms !== 2_000) return set(run, ms, ...rest);
  cuts.push(run);
  return set(() => undefined, ms);
});

/** Sends the head and then parts, also after the answer, until the service has read all that it reads. */
async function sendWithoutEnd(head: string, part: Buffer) {
  cuts.length = 0;
  using connection = openConnection(port, { allowHalfOpen: true });
  const { socket } = connection;
  await once(socket, 'connect');
  const { localPort } = socket;
  await until(() => accepted.has(localPort));
  const accepting = accepted.get(localPort) as Socket;
  socket.write(head);
  writeForEver(socket, part);
  // As much as it may read, so that a client which sends all before it reads gets to the answer.
  await until(() => accepting.bytesRead > LINGER_BYTES_MAX / 2 && accepting.isPaused());
  const [cut, ...others] = cuts;
  assert.deepEqual(others, []);
  cut?.();
  // The end of the connection may be a reset.
  await connection.readToEnd().catch(() => undefined);
  return { text: connection.received, readBytes: accepting.bytesRead };
}

for (const [what, head, part, status] of [
  ['no key, in chunks', `${POST}${CHUNKED}\r\n`, CHUNK, 401],
  ['a GET', `GET /livez HTTP/1.1\r\n${HOST}${CHUNKED}\r\n`, CHUNK, 200],
  ['a bad Host', `POST /v1/pets HTTP/1.1\r\nHost:\r\n${CHUNKED}\r\n`, CHUNK, 400],
  ['another media type', `${MINE}Content-Type: text/plain\r\n${LONG}\r\n`, MIB, 415],
  ['a key, announced', `${MINE}${LONG}\r\n`, MIB, 413],
  ['a key, in chunks', `${MINE}${CHUNKED}\r\n`, CHUNK, 413],
  ['a head without an end', `GET / HTTP/1.1\r\n${HOST}X: `, MIB, 431],
  ['no HTTP', 'garbage\r\n\r\n', MIB, 400],
  ['an upgrade', `GET /nothing HTTP/1.1\r\n${HOST}${UPGRADE}\r\n`, REQUESTS, 404],
  ['Connection: close', `GET /livez HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, REQUESTS, 200],
] as const) {
  test(`what is sent without end › behind a request with ${what} › is cut off after its ${status}`, async () => {
    const { text, readBytes } = await sendWithoutEnd(head, part);
    const answer = parseAnswer(text);
    assert.equal(answer.status, status);
    assert.equal(answer.headers.connection, 'close');
    assert.ok(readBytes < READ_BYTES_MAX, `${readBytes} bytes were read`);
  });
}

for (const [what, head, bytes, status] of [
  ['100 KB', `${MINE}Content-Length: 100000\r\n`, 100_000, 413],
  ['1 MB', `${MINE}Content-Length: 1000000\r\n`, 1_000_000, 413],
  ['no chunks', `${POST}${CHUNKED}`, 200_000, 401],
] as const) {
  test(`a body of ${what} › of a client that sends all of it before it reads › gets the ${status}`, async () => {
    for (let round = 0; round < 5; round += 1) {
      const text = await exchange(port, `${head}\r\n`, MIB.subarray(0, bytes));
      assert.equal(parseAnswer(text).status, status);
    }
  });
}

for (const [bytes, expected] of [
  [65_536, 'keep-alive'],
  [65_537, 'close'],
] as const) {
  test(`a body of ${bytes} bytes › that comes after its refusal › is answered with Connection: ${expected}`, async () => {
    using connection = openConnection(port);
    const { socket } = connection;
    socket.write(`${POST}Content-Length: ${bytes}\r\n\r\n`);
    await once(socket, 'data');
    const { status, headers } = parseAnswer(connection.received);
    assert.deepEqual([status, headers.connection], [401, expected]);
    socket.write(Buffer.alloc(bytes));
    socket.write(`GET /livez HTTP/1.1\r\n${HOST}${CLOSE}\r\n`);
    const isNextAnswered = /HTTP\/1\.1 200 /.test(await connection.readToEnd());
    assert.equal(isNextAnswered, expected === 'keep-alive');
  });
}

test('unread bodies › all of them › are no failure of the service', () => {
  const failures = service.log.filter(({ level }) => level !== 'info');
  assert.deepEqual(failures, []);
});

for (const [what, head, status] of [
  ['a bad Host', 'GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
  ['an Expect', `GET /livez HTTP/1.1\r\n${HOST}Expect: 100-continue\r\n\r\n`, 200],
  ['no key and Connection: close', `${POST}${CLOSE}Content-Length: 20000\r\n\r\n`, 401],
] as const) {
  test(`lingering close › what is sent behind a request with ${what} › does not reset the connection`, async () => {
    using connection = openConnection(port, { allowHalfOpen: true });
    const { socket } = connection;
    socket.write(head);
    const [answer] = await once(socket, 'data');
    assert.equal(parseAnswer(String(answer)).status, status);
    const more = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
    for (const bytes of [1, 2, 3].map((times) => head.length + times * more.length)) {
      socket.write(more);
      await until(() => accepted.get(socket.localPort)?.bytesRead === bytes);
    }
    socket.end();
    await connection.readToEnd();
  });
}
