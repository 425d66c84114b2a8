/** What the service holds for its clients: bodies that are coming in, requests that wait, answers that are not read. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { LIMITS } from '../../src/http/limits.ts';
import { SCRIPT_NAME } from '../../src/http/routes/docs.ts';
import { startTestApp } from '../support/app.ts';
import { countPets } from '../support/count-pets.ts';
import { assertError, assertJson, send } from '../support/request.ts';
import { exchange, openConnection, parseAnswer, type RawConnection } from '../support/socket.ts';
import { until } from '../support/until.ts';

const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
const { port, key, authorization, store } = service;

const FIELDS = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
const BODY_BYTES = 65_000;
/** As many bodies of that size as may be held. */
const BODIES = Math.floor(LIMITS.HELD_BYTES_MAX / BODY_BYTES);
const REX = '{"name":"Rex","categoryId":3}';

function openAll(count: number, options = {}): RawConnection[] & Disposable {
  const connections = Array.from({ length: count }, () => openConnection(port, options));
  return Object.assign(connections, {
    [Symbol.dispose]() {
      for (const connection of connections) connection[Symbol.dispose]();
    },
  });
}

/** Sends most of a body on each of these connections. */
async function sendBodies(connections: readonly RawConnection[], fields = FIELDS): Promise<void> {
  const body = Buffer.alloc(BODY_BYTES, ' ');
  for (const { socket } of connections) {
    const received = once(service.app.server, 'request');
    socket.write(`POST /v1/pets HTTP/1.1\r\n${fields}Content-Length: ${BODY_BYTES + 1}\r\n\r\n`);
    socket.write(body);
    await received;
  }
}

/** Sends the head of a create and the first byte of its body, REX. */
async function beginRex({ socket }: RawConnection): Promise<void> {
  const received = once(service.app.server, 'request');
  socket.write(
    `POST /v1/pets HTTP/1.1\r\n${FIELDS}Connection: close\r\nContent-Length: ${REX.length}\r\n\r\n{`,
  );
  await received;
}

const chunked = (parts: number) =>
  `POST /v1/pets HTTP/1.1\r\n${FIELDS}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n${'1\r\n \r\n'.repeat(parts - 2)}1c\r\n${REX.slice(1)}\r\n0\r\n\r\n`;

/** The path of the longest answer. */
const SCRIPT = `/docs/js/${SCRIPT_NAME}`;

describe('held bytes', () => {
  test('held bytes › a body in as many parts as are allowed, or in more › is read, or is 413', async () => {
    const ask = async (parts: number) => parseAnswer(await exchange(port, chunked(parts)));
    const refusal = /^the body must come in at most 1000 parts$/;
    assertJson(await ask(LIMITS.BODY_PARTS_MAX), 201);
    for (const parts of [LIMITS.BODY_PARTS_MAX + 1, 30_000]) {
      assertError(await ask(parts), 'payload_too_large', refusal);
    }
    assert.equal(await countPets(store.pets), 1);
  });

  test('held bytes › more bodies at once than may be held › cost the oldest of them', async () => {
    using slow = openAll(BODIES + 2);
    await sendBodies(slow);
    const answered = () => slow.filter(({ received }) => received !== '');
    await until(() => answered().length === 2);
    assert.deepEqual(answered(), slow.slice(0, 2));
    for (const { received } of answered()) {
      assertError(parseAnswer(received), 'unavailable', /try again/);
    }
    const headers = { ...authorization, 'content-type': 'application/json' };
    assertJson(await send(port, { method: 'POST', path: '/v1/pets', headers, body: REX }), 201);
  });

  test('held bytes › the body of another client, which sends little › outlasts those of one that sends too many', {
    skip: process.platform === 'darwin' && 'only 127.0.0.1 is an address of its own machine',
  }, async () => {
    const localAddress = '127.0.0.2';
    using other = openConnection(port, { localAddress });
    await beginRex(other);
    // Its bodies that came to their end are held no longer.
    const sent = { method: 'POST', path: '/v1/pets', headers: authorization, localAddress };
    for (let count = 0; count <= BODIES; count += 1) {
      assertJson(await send(port, { ...sent, body: REX.padEnd(BODY_BYTES, ' ') }), 201);
    }
    using slow = openAll(BODIES + 1);
    await sendBodies(slow);
    await until(() => slow.some(({ received }) => received !== ''));
    other.socket.write(REX.slice(1));
    assertJson(parseAnswer(await other.readToEnd()), 201);
  });

  test('held bytes › bodies whose requests are answered without them › are held no longer', async () => {
    using good = openConnection(port);
    await beginRex(good);
    using keyless = openAll(BODIES + 20);
    await sendBodies(keyless, 'Host: x\r\n');
    await until(() => keyless.every(({ received }) => received.startsWith('HTTP/1.1 401 ')));
    good.socket.write(REX.slice(1));
    assertJson(parseAnswer(await good.readToEnd()), 201);
  });

  test('held bytes › more unread answers than may be held › cost the oldest connections', async () => {
    const { headers } = await send(port, { path: SCRIPT });
    const accepted = new Set<Socket>();
    const { server } = service.app;
    server.on('connection', (socket) => accepted.add(socket));
    // The kernel may take a half of the last answer to each, and all answers before.
    using readers = openAll(
      Math.ceil((2 * LIMITS.HELD_BYTES_MAX) / Number(headers['content-length'])) + 2,
    );
    for (const { socket } of readers) {
      socket.pause().write(`GET ${SCRIPT} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(15));
    }
    await until(() => accepted.size >= readers.length);
    // Before the end of the time to read an answer.
    const areCut = () => [...accepted].map(({ destroyed }) => destroyed);
    await until(() => areCut().includes(true), LIMITS.UNREAD_MS_MAX / 2);
    assert.ok(areCut()[0]);
    assert.ok(!areCut().at(-1));
  });

  test('held bytes › an answer that is read late › leaves the connection to the next request', async ({
    mock,
  }) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { promise: accepted, resolve: accept } = Promise.withResolvers<Socket>();
    using reader = openConnection(port);
    // The connections of the test before may still be at work.
    service.app.server.on('connection', (socket) => {
      if (socket.remotePort === reader.socket.localPort) accept(socket);
    });
    const socket = await accepted;
    // More than the kernel keeps.
    const requests = `GET ${SCRIPT} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(15);
    reader.socket.pause().write(requests);
    await until(() => socket.writableLength > 0);
    reader.socket.resume();
    const countUnread = () => 16 - reader.received.split('HTTP/1.1 200 ').length;
    await until(() => countUnread() + service.app.readConnections().requestsAtWork === 0);
    mock.timers.tick(LIMITS.UNREAD_MS_MAX);
    reader.socket.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    assert.match(await reader.readToEnd(), /\{"status":"ok"\}$/);
  });

  test('held bytes › more requests that wait than may be held › cost the oldest of them their answers', async ({
    mock,
  }) => {
    const { promise: checked, resolve: answerCheck } = Promise.withResolvers<void>();
    mock.method(store, 'check', () => checked);
    using waiting = openAll(BODIES + 40);
    const requests =
      `GET /readyz?${'a'.repeat(BODY_BYTES / 50)} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(49);
    for (const { socket } of waiting) {
      const received = once(service.app.server, 'request');
      socket.write(requests);
      await received;
    }
    answerCheck();
    const countAnswers = ({ received }: RawConnection) =>
      received.split('HTTP/1.1 200 ').length - 1;
    await until(() =>
      waiting.every((each) => each.socket.readableEnded || countAnswers(each) === 49),
    );
    const answers = waiting.map(countAnswers);
    assert.deepEqual(answers.slice(0, 10), Array(10).fill(1));
    assert.equal(answers.at(-1), 49);
  });
});
