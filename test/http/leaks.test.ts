/** What requests take is given back, however they end: each row has more of them than there are places. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createApiKeyText } from '../../src/api-key.ts';
import { PetstoreError } from '../../src/error.ts';
import { CREATES_AT_WORK_MAX } from '../../src/http/hooks/fair-queue.ts';
import { DELAYED_MAX } from '../../src/http/hooks/rehearse.ts';
import { TokenBuckets } from '../../src/http/token-buckets.ts';
import { addKey, startTestApp } from '../support/app.ts';
import { exchange, openConnection, parseAnswer } from '../support/socket.ts';
import { until } from '../support/until.ts';

/** Creates have the most places. With one connection to the database, reads have 16. */
const COUNT = CREATES_AT_WORK_MAX + 10;

const real = await startTestApp();
const { pets } = real.store;
const slow = await addKey(real.store, { environment: 'staging' });
const [{ id: slowId = 0 } = {}] = (await real.store.keys.list()).slice(-1);

/** What the store has not answered yet. */
const held: (() => void)[] = [];
const WORK: Readonly<Record<string, () => unknown>> = {
  held: () => new Promise<void>((answer) => held.push(answer)),
  broken: () => Promise.reject(new Error('broken')),
  away: () => Promise.reject(new PetstoreError('unavailable')),
};
const IDS: ReadonlyMap<bigint, string> = new Map([
  [7n, 'held'],
  [8n, 'broken'],
  [9n, 'away'],
]);

const rateLimiter = new TokenBuckets(1_000_000);
rateLimiter.take = (keyId) => (keyId === slowId ? -1 : 1);
const service = await startTestApp({
  ...{ rehearse: true, rateLimiter },
  store: {
    ...real.store,
    connectionsMax: 1,
    pets: {
      ...pets,
      find: async (id) => {
        await WORK[IDS.get(id) ?? '']?.();
        return pets.find(id);
      },
      add: async (pet) => {
        await WORK[pet.name]?.();
        return pets.add(pet);
      },
    },
  },
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await real[Symbol.asyncDispose]();
});
const { app, port } = service;
const read = () => app.readConnections();

const HOST = 'Host: x\r\nConnection: close\r\n';
const KEY = `${HOST}Authorization: Bearer ${real.key}\r\n`;
const SLOW = `${HOST}Authorization: Bearer ${slow}\r\n`;
const get = (path: string, fields = KEY) => `GET ${path} HTTP/1.1\r\n${fields}\r\n`;
const create = (name: string, fields = KEY) => {
  const body = `{"name":"${name}","categoryId":1}`;
  return `POST /v1/pets HTTP/1.1\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`;
};

const DELAYED = get('/v1/pets', `${KEY}Prefer: delay=0\r\n`);

/** How they end: by this status, 0 for none; or their clients reset once all are at work or wait; or they wait for too long. */
type End = number | 'reset' | 'late';

const ROWS: readonly (readonly [what: string, sent: string, end: End, count?: number])[] = [
  ['lists', get('/v1/pets'), 200],
  ['creates', create('Rex'), 201],
  ['creates with one key', create('Rex', `${KEY}Idempotency-Key: a\r\n`), 201],
  ['creates without a name', create(''), 400],
  ['gets without a key', get('/v1/pets/1', HOST), 401],
  ['gets of no pet', get('/v1/pets/99999'), 404],
  ['requests of no path', get('/nothing'), 404],
  ['creates that are too long', create('x'.repeat(70_000)), 413],
  ['creates of another type', create('Rex', `${KEY}Content-Type: text/plain\r\n`), 415],
  ['lists above the rate', get('/v1/pets', SLOW), 429],
  ['gets that break', get('/v1/pets/8'), 500],
  ['creates that break', create('broken'), 500],
  ['gets of a store that is away', get('/v1/pets/9'), 503],
  ['creates of a store that is away', create('away'), 503],
  ['rehearsed failures', get('/v1/pets', `${KEY}Prefer: status=500\r\n`), 500],
  ['lost answers', get('/v1/pets', `${KEY}Prefer: lose-answer\r\n`), 0],
  ['what is no HTTP', 'garbage\r\n\r\n', 400],
  ['tunnels', 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
  ['gets', get('/v1/pets/7'), 'reset'],
  ['creates', create('held'), 'reset'],
  ['bodies on their way', create('Rex').slice(0, -9), 'reset'],
  ['lists above the rate', get('/v1/pets', SLOW), 'reset'],
  ['delayed lists', get('/v1/pets', `${KEY}Prefer: delay=0.5\r\n`), 'reset', DELAYED_MAX],
  ['gets', get('/v1/pets/7'), 'late'],
  ['creates', create('held'), 'late'],
];

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const sockets: WeakRef<Socket>[] = [];
app.server.on('connection', (socket) => sockets.push(new WeakRef(socket)));

/** What keeps this process alive, its open files, and its listeners. */
function listTaken(): string {
  const files = readdirSync('/dev/fd').length;
  const listeners = process.eventNames().map((name) => process.listenerCount(name));
  return [...process.getActiveResourcesInfo().sort(), files, ...listeners].join();
}

async function getStatus(text: string): Promise<number> {
  return parseAnswer(await exchange(port, text)).status;
}

/** Sends a request so often; how they ended. */
async function sendAll(text: string, end: End, count: number): Promise<End[]> {
  const open = Array.from({ length: count }, () => openConnection(port));
  if (end === 'reset') for (const { socket } of open) socket.pause();
  for (const { socket } of open) socket.write(text);
  if (typeof end === 'number') {
    const texts = await Promise.all(open.map((connection) => connection.readToEnd()));
    return texts.map((answer) => parseAnswer(answer).status || 0);
  }
  await until(() => read().requestsAtWork === count);
  if (end === 'reset') for (const { socket } of open) socket.resetAndDestroy();
  else await until(() => read().waitingRequests === 0);
  await until(() => {
    for (const answer of held.splice(0)) answer();
    return read().connections === 0;
  });
  return open.map(() => end);
}

for (const [what, sent, end, count = COUNT] of ROWS) {
  test(`given back › by ${count} ${what}, ${end} › is all that they took`, async () => {
    const before = listTaken();
    assert.deepEqual(await sendAll(sent, end, count), Array(count).fill(end));
    await until(() => Object.values(read()).every((count) => count === 0));
    // A delay goes on without its client.
    await until(async () => (await getStatus(DELAYED)) === 200);
    assert.equal(await getStatus(create('Rex')), 201);
    await until(() => listTaken() === before);
  });
}

test('given back › by all of them › is their memory', async () => {
  assert.ok(sockets.length > COUNT);
  // The last ones may still be on the stack, or in a cache of Node.
  await until(() => {
    collectGarbage();
    return sockets.filter((socket) => socket.deref() !== undefined).length < COUNT / 2;
  });
});

test('connections › with a body that came before its refusal, and left open › keep no body', async () => {
  const request = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${createApiKeyText('staging')}\r\nContent-Length: 60000\r\n\r\n`;
  const bytes = Buffer.concat([Buffer.from(request), Buffer.alloc(60_000, ' ')]);
  const countBytes = () => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  const before = countBytes();
  const connections = Array.from({ length: 100 }, () => openConnection(port));
  for (const { socket } of connections) socket.write(bytes);
  await Promise.all(connections.map(({ socket }) => once(socket, 'data')));
  for (const { received } of connections) assert.match(received, /^HTTP\/1\.1 401 /);
  await until(() => countBytes() - before < 10 * bytes.length);
  for (const connection of connections) connection[Symbol.dispose]();
});
