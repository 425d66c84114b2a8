/** However requests end, nothing of them is left: no place, connection, timer, file, listener or memory. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import timersPromises from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FastifyRequest } from 'fastify';
import { createApiKeyText, digestApiKey } from '../../src/api-key.ts';
import { PetstoreError } from '../../src/error.ts';
import { READS_OF_CONNECTION_MAX, WRITES_AT_WORK_MAX } from '../../src/http/hooks/fair-queue.ts';
import { TokenBuckets } from '../../src/http/hooks/rate-limit.ts';
import { DELAYED_MAX } from '../../src/http/hooks/rehearse.ts';
import { SCRIPT_NAME } from '../../src/http/routes/docs.ts';
import { addKey, startTestApp } from '../support/app.ts';
import { HANG_MS } from '../support/hang.ts';
import { exchange, openConnection, parseAnswer, sendUntilUnread } from '../support/socket.ts';
import { until } from '../support/until.ts';

/** The places of reads, with one connection to the database. As many are left to creates. */
const PLACES = READS_OF_CONNECTION_MAX;
/** If the places are not given back, the last of so many requests get none. */
const COUNT = PLACES + 10;
/** Enough for what ends by itself, such as a delay. What is not given back by then never is. */
const MS_MAX = HANG_MS / 12;

/** The timers that are neither over nor cleared, with their milliseconds. */
const timers = new Map<NodeJS.Timeout, number>();
const { setTimeout: setTimer, clearTimeout: clearTimer } = globalThis;
// A mock of node:test would keep what each timer keeps.
Object.assign(globalThis, {
  setTimeout(run: () => void, ms: number) {
    const timer = setTimer(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.set(timer, ms);
    return timer;
  },
  clearTimeout(timer: NodeJS.Timeout) {
    timers.delete(timer);
    clearTimer(timer);
  },
});

const real = await startTestApp();
after(async () => {
  await service[Symbol.asyncDispose]();
  await real[Symbol.asyncDispose]();
});
const { pets, keys } = real.store;
const slow = await addKey(real.store, { environment: 'staging' });
const slowId = (await keys.list()).at(-1)?.id;
const rateLimiter = new TokenBuckets(1_000_000);
rateLimiter.take = (keyId) => (keyId === slowId ? -1 : 1);

/** The answers that the store holds back. */
const held: (() => void)[] = [];
const hold = () => new Promise<void>((answer) => held.push(answer));
const answerHeld = () => {
  for (const answer of held.splice(0)) answer();
};
/** A delay of so many seconds lasts until held answers are given, however busy the machine is. */
const HELD_SECONDS = 29;
const { setTimeout: sleep } = timersPromises;
Object.assign(timersPromises, {
  setTimeout: (ms: number, ...rest: []) =>
    ms === HELD_SECONDS * 1_000 ? hold() : sleep(ms, ...rest),
});
syncBuiltinESMExports();
const breakDown = () => Promise.reject(new Error('broken'));
const beAway = () => Promise.reject(new PetstoreError('unavailable'));

const HELD_KEY = createApiKeyText('staging');
const AWAY_KEY = createApiKeyText('staging');
/** What the store does first if it is asked for this id of a pet, name of a new pet, or digest of a key. */
const WORK: Readonly<Record<string, () => Promise<void>>> = {
  ...{ 7: hold, held: hold, [String(digestApiKey(HELD_KEY))]: hold },
  ...{ 8: breakDown, broken: breakDown },
  ...{ away: beAway, [String(digestApiKey(AWAY_KEY))]: beAway },
};
const workFirst =
  <Asked, Answer>(ask: (asked: Asked) => Promise<Answer>) =>
  async (asked: Asked) => {
    await WORK[Object(asked).name ?? String(asked)]?.();
    return ask(asked);
  };

const sockets: WeakRef<Socket>[] = [];

const service = await startTestApp({
  ...{ rehearse: true, rateLimiter },
  store: {
    ...{ ...real.store, connectionsMax: 1, check: hold },
    keys: { ...keys, find: workFirst(keys.find) },
    pets: { ...pets, find: workFirst(pets.find), add: workFirst(pets.add) },
  },
});
const { app, port } = service;
app.server.on('connection', (socket) => sockets.push(new WeakRef(socket)));
// Creates that never end take the other places of creates. Only a few start in a turn.
const endless = { method: 'POST', keyId: 1, refusal: null, socket: { destroyed: false } };
for (let free = WRITES_AT_WORK_MAX; free > PLACES; free -= 1) {
  app.queue.enter({ ...endless } as FastifyRequest, () => undefined);
}
await until(() => app.readConnections().waitingRequests === 0);

const OPEN = 'Host: x\r\n';
const HOST = `${OPEN}Connection: close\r\n`;
const withKey = (text: string) => `Authorization: Bearer ${text}\r\n`;
const KEPT = OPEN + withKey(real.key);
const KEY = HOST + withKey(real.key);
const SLOW = HOST + withKey(slow);
const get = (path: string, fields = KEY) => `GET ${path} HTTP/1.1\r\n${fields}\r\n`;
const create = (name: string, fields = KEY) => {
  const body = `{"name":"${name}","categoryId":1}`;
  return `POST /v1/pets HTTP/1.1\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`;
};

const CHUNKED = get('/v1/pets', `${KEY}Transfer-Encoding: chunked\r\n`).replace('GET', 'POST');
const LIST = get('/v1/pets', KEPT);
const TUNNEL = 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n';
const DELAYED = get('/v1/pets', `${KEY}Prefer: delay=0\r\n`);

/**
 * How clients leave that do not wait for the end of an answer: they reset once all requests are at work or wait, or once
 * the kernel takes no more of the answers, or once the service has closed its side. Or they stay until their requests
 * have waited for too long, or for ever.
 */
type Leave = 'reset' | 'unread' | 'reset while lingering' | 'late' | 'never closed';

/** A status, which is 0 without an answer; or how the clients leave. */
type End = number | Leave;

const ROWS: readonly (readonly [what: string, sent: string, end: End, count?: number])[] = [
  ['lists', get('/v1/pets'), 200],
  ['creates', create('Rex'), 201],
  ['creates without a name', create(''), 400],
  ['gets without a key', get('/v1/pets/1', HOST), 401],
  ['requests of no path', get('/nothing'), 404],
  ['creates that are too long', create('x'.repeat(70_000)), 413],
  ['lists above the rate', get('/v1/pets', SLOW), 429],
  ['gets that break', get('/v1/pets/8'), 500],
  ['creates of a store that is away', create('away'), 503],
  ['rehearsed failures', get('/v1/pets', `${KEY}Prefer: status=500\r\n`), 500],
  ['lost answers', get('/v1/pets', `${KEY}Prefer: lose-answer\r\n`), 0],
  ['what is no HTTP', 'garbage\r\n\r\n', 400],
  ['tunnels', TUNNEL, 405],
  ['lists with another one behind', LIST + LIST, 200],
  ['bodies that break', `${CHUNKED}zz\r\n`, 400],
  ['bodies on their way', `${CHUNKED}1\r\n{`, 408],
  ['heads on their way', 'GET / HTTP/1.1\r\n', 408],
  ['gets with a key of a store that is away', get('/v1/pets/1', HOST + withKey(AWAY_KEY)), 503],
  ['gets', get('/v1/pets/7'), 'reset'],
  ['creates', create('held'), 'reset'],
  ['gets with another one behind', LIST.replace('pets', 'pets/7') + LIST, 'reset'],
  ['gets with a key that is looked up', get('/v1/pets/1', HOST + withKey(HELD_KEY)), 'reset'],
  ['checks', get('/readyz', HOST), 'reset'],
  ['bodies on their way', create('Rex').slice(0, -9), 'reset'],
  ['lists above the rate', get('/v1/pets', SLOW), 'reset'],
  [
    'delayed lists',
    get('/v1/pets', `${KEY}Prefer: delay=${HELD_SECONDS}\r\n`),
    'reset',
    DELAYED_MAX,
  ],
  ['long answers', get(`/docs/js/${SCRIPT_NAME}`, 'Host: x\r\n'), 'unread', 3],
  ['gets', get('/v1/pets/7'), 'late'],
  ['lists with another one behind', LIST + LIST, 'reset while lingering'],
  ['tunnels', TUNNEL, 'reset while lingering'],
  ['lists', get('/v1/pets'), 'never closed'],
];

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** What keeps this process alive, its open files, and its listeners. */
function listTaken(): string {
  const files = readdirSync('/dev/fd').length;
  const listeners = process.eventNames().map((name) => process.listenerCount(name));
  return [...process.getActiveResourcesInfo().sort(), files, ...listeners].join();
}

async function getStatus(text: string): Promise<number> {
  return parseAnswer(await exchange(port, text)).status || 0;
}

/** Fails with what is still taken. */
async function assertSoon<Taken>(read: () => Taken | Promise<Taken>, expected: Taken) {
  const isSo = async () => isDeepStrictEqual(await read(), expected);
  await until(isSo, MS_MAX).catch(() => undefined);
  assert.deepEqual(await read(), expected);
}

/** Sends the request so often. Each is answered with the status. */
async function answerAll(text: string, status: number, count: number) {
  const { headersTimeout, requestTimeout } = app.server;
  if (status === 408) Object.assign(app.server, { headersTimeout: 500, requestTimeout: 500 });
  const answers = Array.from({ length: count }, () => getStatus(text));
  assert.deepEqual(await Promise.all(answers), Array(count).fill(status));
  Object.assign(app.server, { headersTimeout, requestTimeout });
}

/** Sends the request so often. The clients leave, and the service closes their connections. */
async function leaveAll(text: string, leave: Leave, count: number) {
  const allowHalfOpen = leave === 'reset while lingering' || leave === 'never closed';
  const open = Array.from({ length: count }, () => openConnection(port, { allowHalfOpen }));
  if (leave === 'reset' || leave === 'unread') for (const { socket } of open) socket.pause();
  for (const { socket } of open) {
    if (leave === 'unread') await sendUntilUnread(socket, text);
    else socket.write(text);
  }
  if (allowHalfOpen) await Promise.all(open.map(({ socket }) => once(socket, 'end')));
  else await assertSoon(() => app.readConnections().requestsAtWork, count);
  if (leave === 'late') await assertSoon(() => app.readConnections().waitingRequests, 0);
  else if (leave !== 'never closed') for (const { socket } of open) socket.resetAndDestroy();
  await assertSoon(() => {
    answerHeld();
    return app.readConnections().connections;
  }, 0);
  for (const connection of open) connection[Symbol.dispose]();
}

for (const [what, sent, end, count = COUNT] of ROWS) {
  test(`given back › by ${count} ${what}, ${end} › is all that they took`, async () => {
    // The queue has looked at its line once more, and the pause after a commit is over.
    const isIdle = () => !/Timeout|Immediate/.test(process.getActiveResourcesInfo().join());
    await assertSoon(isIdle, true);
    const before = listTaken();
    if (typeof end === 'number') await answerAll(sent, end, count);
    else await leaveAll(sent, end, count);
    const nothing = { connections: 0, requestsAtWork: 0, waitingRequests: 0, closedConnections: 0 };
    await assertSoon(() => app.readConnections(), nothing);
    // A shorter timer may end by itself: the pause of a refusal, and the window of the log.
    const long = () => [...timers.values()].filter((ms) => ms > 1_000);
    assert.deepEqual(long(), []);
    // A delay goes on without its client.
    await assertSoon(() => getStatus(DELAYED), 200);
    assert.equal(await getStatus(create('Rex')), 201);
    await assertSoon(listTaken, before);
  });
}

test('given back › by three requests of each kind on one connection › are their listeners', async () => {
  const accepted = once(app.server, 'connection');
  using connection = openConnection(port);
  const [socket] = (await accepted) as [Socket];
  const counts: number[][] = [];
  for (let round = 0; round < 3; round += 1) {
    for (const text of [LIST, create('Rex', KEPT), create('', KEPT), create('x', OPEN)]) {
      const answered = once(connection.socket, 'data');
      connection.socket.write(text);
      await answered;
    }
    counts.push(socket.eventNames().map((name) => socket.listenerCount(name)));
  }
  assert.deepEqual(counts.at(-1), counts[0]);
});

test('given back › by all of them › is their memory', async () => {
  assert.ok(sockets.length > COUNT);
  // The last ones may still be on the stack, or in a cache of Node.
  await until(() => {
    collectGarbage();
    return sockets.filter((socket) => socket.deref() !== undefined).length < COUNT / 2;
  });
});

const BODY_BYTES = 60_000;
const countBytes = () => {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
};

for (const [status, what, fields, body] of [
  [401, 'an unknown key that is looked up meanwhile', OPEN + withKey(HELD_KEY), ''],
  [415, 'another type', `${KEPT}Content-Type: text/plain\r\n`, ''],
  [500, 'a pet that breaks', KEPT, '{"name":"broken","categoryId":1}'],
  [201, 'a pet', KEPT, '{"name":"Rex","categoryId":1}'],
] as const) {
  test(`given back › by connections that are left open behind a body with ${what}, ${status} › is the body`, async () => {
    const head = `POST /v1/pets HTTP/1.1\r\n${fields}Content-Length: ${BODY_BYTES}\r\n\r\n`;
    const before = countBytes();
    const connections = Array.from({ length: 30 }, () => openConnection(port));
    for (const { socket } of connections) socket.write(head + body.padEnd(BODY_BYTES));
    const answered = connections.map(({ socket }) => once(socket, 'data'));
    const sent = head.length + BODY_BYTES;
    await until(() => sockets.slice(-30).every((each) => each.deref()?.bytesRead === sent));
    answerHeld();
    await Promise.all(answered);
    for (const { received } of connections) assert.equal(parseAnswer(received).status, status);
    await assertSoon(() => countBytes() - before < 10 * BODY_BYTES, true);
    for (const connection of connections) connection[Symbol.dispose]();
  });
}
