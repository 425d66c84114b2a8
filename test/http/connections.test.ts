/** The bound on open connections: which one makes room for a new one, and which ones do not. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { beforeEach, describe, mock, test } from 'node:test';
import { TokenBuckets } from '../../src/http/hooks/rate-limit.ts';
import { SCRIPT_NAME } from '../../src/http/routes/docs.ts';
import type { PetQuery } from '../../src/pet-query.ts';
import { addKey, startSharedApp, startTestApp } from '../support/app.ts';
import {
  openConnection as openRaw,
  type RawConnection,
  sendUntilUnread,
} from '../support/socket.ts';
import { nextPoll, until } from '../support/until.ts';

const MAX = 3;
const LIVEZ = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';

const rateLimiter = new TokenBuckets(1_000);
// Only the first key, that of the service, is within its rate.
rateLimiter.take = (keyId) => (keyId === 1 ? 1 : -1);
const service = await startSharedApp({ maxConnections: MAX, rateLimiter });
const { store } = service;
const slow = await addKey(store, { environment: 'staging' });
let answerLists = () => {};
const list = store.pets.listAsJson.bind(store.pets);
mock.method(store.pets, 'listAsJson', async (query: PetQuery) => {
  await new Promise<void>((resolve) => {
    answerLists = resolve;
  });
  return list(query);
});
const LIST = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.key}\r\n\r\n`;
const SLOW = LIST.replace(service.key, slow);

let open: RawConnection[] = [];

/** The service answers what it has read, or pauses, within these turns. */
async function passTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await nextPoll();
}

async function openConnection(bytes = ''): Promise<RawConnection> {
  const accepted = once(service.app.server, 'connection');
  const connection = openRaw(service.port);
  open.push(connection);
  connection.socket.write(bytes);
  const [socket] = (await accepted) as [Socket];
  await until(() => socket.destroyed || socket.bytesRead === bytes.length);
  await passTurns();
  return connection;
}

/** Which of them are closed, once one is. */
async function findClosed(): Promise<boolean[]> {
  await until(() => open.some(({ socket }) => socket.destroyed));
  await passTurns();
  return open.map(({ socket }) => socket.destroyed);
}

describe('connections', () => {
  beforeEach(async () => {
    // A test that fails leaves its list without an answer.
    answerLists();
    for (const { socket } of open) socket.destroy();
    open = [];
    await until(() => service.app.readConnections().connections === 0);
  });

  test('connections › one more than the bound › closes the one that is idle for longest', async () => {
    const first = await openConnection(LIVEZ);
    await openConnection(LIVEZ);
    await openConnection();
    first.socket.write(LIVEZ);
    await until(() => first.received.split('200 OK').length === 3);
    const added = await openConnection(LIVEZ);
    assert.deepEqual(await findClosed(), [false, true, false, false]);
    assert.match(added.received, /^HTTP\/1\.1 200 OK/);
  });

  const HALF = LIVEZ.slice(0, 20);
  const CREATE = LIST.replace('GET', 'POST').replace('\r\n\r\n', '\r\nContent-Length: 29\r\n\r\n');
  for (const [what, sent, closed] of [
    ['others begin', [LIST, LIVEZ + HALF, LIVEZ], [false, true, false, false]],
    ['heads never end', [LIST, HALF, HALF], [false, true, false, false]],
    ['refusals of the rate limit pause', [LIST, SLOW, SLOW], [false, true, false, false]],
    ['bodies never end', [CREATE, CREATE, CREATE], [true, false, false, false]],
  ] as const) {
    test(`connections › one more while ${what} › closes the oldest of those, none at work`, async () => {
      for (const bytes of sent) await openConnection(bytes);
      const added = await openConnection(LIVEZ);
      assert.deepEqual(await findClosed(), closed);
      assert.match(added.received, /^HTTP\/1\.1 200 OK/);
      answerLists();
      if (sent[0] === LIST)
        await until(() => open[0]?.received.startsWith('HTTP/1.1 200 OK') === true);
    });
  }

  test('connections › several more in a second › are one line in the log', async (t) => {
    const check = () => new Promise<void>(() => {});
    await using bounded = await startTestApp({ maxConnections: 1, store: { ...store, check } });
    let clock = 0;
    t.mock.method(performance, 'now', () => clock);
    const openNext = () => openRaw(bounded.port);
    const first = openNext();
    await once(first.socket, 'connect');
    using second = openNext();
    assert.equal(await first.readToEnd(), '');
    const received = once(bounded.app.server, 'request');
    second.socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n');
    await received;
    assert.equal(await openNext().readToEnd(), '');
    // The first of these is within a second of the last line.
    for (const ms of [600, 400]) {
      clock += ms;
      assert.equal(await openNext().readToEnd(), '');
    }
    const msg = 'too many connections: some are closed';
    assert.deepEqual(
      bounded.log.filter(({ level }) => level === 'warn').map(({ time, pid, ...line }) => line),
      Array(2).fill({ level: 'warn', connectionsMax: 1, msg }),
    );
    const counts = { connections: 1, requestsAtWork: 1, waitingRequests: 0, closedConnections: 4 };
    assert.deepEqual(bounded.app.readConnections(), counts);
  });

  test('connections › one more while nobody reads the answers › closes the oldest of those', async () => {
    const script = `GET /docs/js/${SCRIPT_NAME} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const answers: ServerResponse[] = [];
    for (let count = 0; count < MAX; count += 1) {
      answers.push(await sendUntilUnread((await openConnection()).socket, script));
    }
    const added = await openConnection(LIVEZ);
    await until(() => added.received.startsWith('HTTP/1.1 200 OK'));
    assert.deepEqual(
      answers.map(({ destroyed }) => destroyed),
      [true, false, false],
    );
  });
});
