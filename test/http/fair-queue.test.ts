/** The fair queue: how many requests are at work, which one is next, and which ones are refused. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import {
  FairQueue,
  READS_OF_CONNECTION_MAX,
  STARTED_MAX,
  WRITES_AT_WORK_MAX,
} from '../../src/http/hooks/fair-queue.ts';
import { HTTP_LIMITS } from '../../src/http/limits.ts';
import type { NewPet } from '../../src/pet.ts';
import { addKey, startTestApp } from '../support/app.ts';
import { assertError, send } from '../support/request.ts';
import { type Answer, openConnection } from '../support/socket.ts';
import { until } from '../support/until.ts';

const real = await startTestApp({ rehearse: true });
after(async () => {
  await service[Symbol.asyncDispose]();
  await real[Symbol.asyncDispose]();
});
const { pets } = real.store;
const mine = real.authorization;
const CONNECTIONS = 2;
const READS_MAX = CONNECTIONS * READS_OF_CONNECTION_MAX;
const TOO_LATE = 'the request waited for too long';
const BODY = '{"name":"Rex","categoryId":1}';
const HEAD = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: ${mine.authorization}\r\nContent-Length: ${BODY.length}\r\n\r\n`;

/** What the store was asked for and has not answered: the ids of pets, and the names of new ones. */
const asked: { readonly what: bigint | string; readonly answer: () => void }[] = [];
function wait(what: bigint | string): Promise<void> {
  return new Promise((answer) => asked.push({ what, answer }));
}

const store = {
  ...real.store,
  connectionsMax: CONNECTIONS,
  pets: {
    ...pets,
    find: (id: bigint) => wait(id).then(() => pets.find(id)),
    add: (pet: NewPet) => wait(pet.name).then(() => pets.add(pet)),
  },
};
const service = await startTestApp({ store });
const { port } = service;
const other = await addKey(real.store, { environment: 'staging' });
const third = { authorization: `Bearer ${await addKey(real.store, { environment: 'staging' })}` };

const get = (id: number, headers = mine, to = port) =>
  send(to, { path: `/v1/pets/${id}`, headers });
const create = (name: string, headers = mine, to = port) =>
  send(to, {
    ...{ method: 'POST', path: '/v1/pets', headers },
    body: JSON.stringify({ name, categoryId: 1 }),
  });
const countWaiting = ({ app } = service) => app.readConnections().waitingRequests;

/** Sends so many requests; resolves when all are at work. */
async function fill(
  count: number,
  sendOne: (index: number) => Promise<Answer>,
): Promise<Promise<Answer>[]> {
  const sent = Array.from({ length: count }, (_, index) => sendOne(index + 1));
  await until(() => asked.length === count);
  return sent;
}

/** Lets the store answer all that it is asked for, until these have their answers. */
async function answerAll(sent: readonly Promise<unknown>[]): Promise<void> {
  let isOver = false;
  const all = Promise.all(sent).finally(() => {
    isOver = true;
  });
  await until(() => {
    for (const { answer } of asked.splice(0)) answer();
    return isOver;
  });
  await all;
}

/** Asks the queue for a place; the name is in `started` when it has one. */
function createQueue(queue = new FairQueue()) {
  const started: string[] = [];
  const enter = (
    name: string,
    keyId: number | null,
    method = 'GET',
    refusal: object | null = null,
  ) => {
    const sent = { method, keyId, refusal, socket: { destroyed: false }, place: null };
    const request = sent as unknown as FastifyRequest;
    queue.enter(request, (error) => started.push(error ? `${name}: ${error.message}` : name));
    return request;
  };
  return { queue, started, enter };
}

/** A queue with no place for another read. */
async function fillQueue() {
  const { started, ...others } = createQueue(new FairQueue(1));
  const atWork = Array.from({ length: READS_OF_CONNECTION_MAX }, () => others.enter('first', 1));
  await setImmediate();
  assert.equal(started.splice(0).length, atWork.length);
  return { ...others, started, atWork };
}

test('fair queue › a place that is left twice › is free once, and for what has waited longest', async () => {
  const { queue, started, enter, atWork } = await fillQueue();
  for (const name of ['next', 'last']) enter(name, 1);
  for (const request of [...atWork.slice(0, 1), ...atWork.slice(0, 1)]) queue.leave(request);
  enter('overtaking', 1);
  await setImmediate();
  assert.deepEqual(started, ['next']);
});

test('fair queue › more requests than a turn starts › start in the next turns, and the lines take turns', async () => {
  const { started, enter } = createQueue();
  const count = 3 * STARTED_MAX;
  for (let number = 0; number < count; number += 1) enter('refusal', null, 'GET', {});
  for (const name of ['first of 1', 'second of 1']) enter(name, 1);
  for (const method of ['GET', 'POST']) enter(`${method} of 2`, 2, method);
  enter('page', null);
  assert.equal(started.length, STARTED_MAX);
  await setImmediate();
  assert.equal(started.length, 2 * STARTED_MAX);
  assert.deepEqual(started.slice(STARTED_MAX, STARTED_MAX + 7), [
    ...['refusal', 'first of 1', 'GET of 2', 'POST of 2', 'page', 'refusal', 'second of 1'],
  ]);
  await setImmediate();
  await setImmediate();
  assert.equal(started.length, count + 5);
});

test('fair queue › a client that finds no place › takes that of the last of the longest line, unless as many are idle', async () => {
  const { queue, started, enter, atWork } = await fillQueue();
  enter('of another key', 2);
  const [, , last] = ['first', 'second', 'third'].map((name) => enter(name, 1));
  const { promise, resolve } = Promise.withResolvers<void>();
  const lookups = [queue.identify(promise), queue.identify(promise)];
  const open = atWork.length + lookups.length + 4;
  assert.equal(queue.giveWay(open + 3), undefined);
  assert.equal(queue.giveWay(open + 2), last);
  resolve();
  await Promise.all(lookups);
  assert.equal(queue.giveWay(open + 2), undefined);
  assert.equal(queue.giveWay(open), last);
  for (const request of atWork) queue.leave(request);
  await setImmediate();
  assert.deepEqual(started, ['of another key', 'first', 'second', 'third']);
  assert.equal(queue.giveWay(0), undefined);
});

test('fair queue › a turn that has accepted a client › starts two requests, so that the next client is accepted soon', async () => {
  const { app } = real;
  const { started, enter } = createQueue(app.queue);
  const names = ['first', 'second', 'third'];
  let requests: FastifyRequest[] = [];
  let atOnce: string[] = [];
  app.server.once('connection', () => {
    requests = names.map((name) => enter(name, 1));
    atOnce = started.slice();
  });
  using _ = openConnection(real.port);
  await until(() => started.length === names.length);
  for (const request of requests) app.queue.leave(request);
  assert.deepEqual(atOnce, ['first', 'second']);
});

test('fair queue › the turns after such a turn › start as many requests as ever', async () => {
  const { queue, started, enter } = createQueue();
  queue.shortenTurn();
  for (let number = 0; number < 2 * STARTED_MAX; number += 1) enter('read', 1);
  await setImmediate();
  const before = started.length;
  await setImmediate();
  assert.equal(started.length, before + STARTED_MAX);
});

test('fair queue › a client that has just reset when its turn comes › is passed over, and takes no place', async () => {
  const { queue, started, enter, atWork } = await fillQueue();
  const gone = enter('gone', 1);
  for (const name of ['next', 'last']) enter(name, 1);
  // Its answer tells of the end only after this turn.
  Object.assign(gone.socket, { destroyed: true });
  queue.leave(atWork[0] as FastifyRequest);
  await setImmediate();
  assert.deepEqual(started, ['next']);
});

for (const [what, atWorkMax, sendOne] of [
  ['gets of a key', READS_MAX, (id: number, to: number) => get(id, mine, to)],
  ['gets of two keys', READS_MAX, (id: number, to: number) => get(id, id % 2 ? mine : third, to)],
  ['creates of a key', WRITES_AT_WORK_MAX, (id: number, to: number) => create(`${id}`, mine, to)],
] as const) {
  test(`fair queue › ${what} in all places › let clients of another key in, which lose no connection`, async (t) => {
    // However busy the machine is, nobody waits for too long.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const maxConnections = atWorkMax + 8;
    await using full = await startTestApp({ store, maxConnections });
    const sent = Array.from({ length: maxConnections }, (_, id) => sendOne(id, full.port));
    const settled = Promise.allSettled(sent);
    await until(() => countWaiting(full) === 8);
    // The first of them has sent nothing yet when the last one comes.
    const clients = [1, 2, 3].map(() => openConnection(full.port));
    const isAnyClosed = () => clients.some(({ socket }) => socket.closed);
    await until(() => countWaiting(full) === 5 || isAnyClosed());
    assert.ok(!isAnyClosed());
    for (const { socket } of clients) {
      socket.end(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${other}\r\n\r\n`);
    }
    await answerAll([settled]);
    for (const client of clients) assert.match(await client.readToEnd(), /^HTTP\/1\.1 200 OK/);
    const lost = (await settled).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    assert.deepEqual(
      lost.map(({ code }) => code),
      Array(3).fill('ECONNRESET'),
    );
  });
}

for (const [what, method, prefer] of [
  ['an OPTIONS', 'OPTIONS', ''],
  ['a rehearsed 503', 'GET', 'status=503'],
] as const) {
  test(`fair queue › ${what} whose client resets before its answer is sent › enters for its answer alone`, async (t) => {
    const { port: itsPort, app } = real;
    const headers = { ...mine, prefer };
    // From now on the key is in the cache, which does not age.
    t.mock.method(performance, 'now', () => 0);
    await send(itsPort, { path: '/v1/pets', headers: mine });
    app.server.prependOnceListener('request', () => {
      // The lines of so many other keys come first.
      for (let keyId = 100; keyId < 100 + 4 * STARTED_MAX; keyId += 1) {
        const gone = { keyId, socket: { destroyed: true }, place: null };
        const request = gone as unknown as FastifyRequest;
        app.queue.enter(request, () => app.queue.leave(request));
      }
    });
    app.server.once('request', ({ socket }) => socket.destroy());
    const enter = t.mock.method(app.queue, 'enter');
    const logged = real.log.length;
    await assert.rejects(send(itsPort, { method, path: '/v1/pets', headers }));
    await until(() => countWaiting(real) === 0);
    const entered = enter.mock.calls.filter(({ arguments: [{ raw }] }) => raw !== undefined);
    assert.equal(entered.length, 1);
    // The line of the log comes after the wait, and has its time.
    assert.equal(real.log.length, logged);
  });
}

test('fair queue › requests that wait for too long, also the second time › are refused, and no other ones', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const pass = (ms: number) => {
    t.mock.timers.tick(ms);
    return started.splice(0);
  };
  const { queue, started, enter, atWork } = await fillQueue();
  const late = (...names: string[]) => names.map((name) => `${name}: ${TOO_LATE}`);
  for (const round of ['first', 'second']) {
    for (const name of ['served', 'late', 'later']) enter(`${round} ${name}`, 1);
    queue.leave(atWork.shift() as FastifyRequest);
    await setImmediate();
    assert.deepEqual(pass(HTTP_LIMITS.WAIT_MS_MAX.value / 2), [`${round} served`]);
    for (const key of [1, 2]) enter(`${round} of ${key}`, key);
    assert.deepEqual(pass(HTTP_LIMITS.WAIT_MS_MAX.value / 2 - 100), []);
    assert.deepEqual(pass(200), late(`${round} late`, `${round} later`));
    assert.deepEqual(pass(HTTP_LIMITS.WAIT_MS_MAX.value), late(`${round} of 1`, `${round} of 2`));
    assert.equal(queue.waiting, 0);
  }
});

test('fair queue › creates whose bodies do not come › take no place', async () => {
  const slow = Array.from({ length: WRITES_AT_WORK_MAX }, () => openConnection(port));
  for (const { socket } of slow) socket.write(HEAD);
  await until(() => service.app.readConnections().requestsAtWork === slow.length);
  const added = create('quick');
  await until(() => asked.length === 1);
  assert.equal(countWaiting(), 0);
  await answerAll([added]);
  for (const connection of slow) connection[Symbol.dispose]();
});

test('fair queue › a client that resets while its create waits › leaves its line at once, and has added nothing', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sent = await fill(WRITES_AT_WORK_MAX, (index) => create(`pet ${index}`));
  const gone = openConnection(port);
  gone.socket.write(HEAD + BODY);
  await until(() => countWaiting() === 1);
  const { connections } = service.app.readConnections();
  gone.socket.resetAndDestroy();
  await until(() => service.app.readConnections().connections < connections);
  assert.equal(countWaiting(), 0);
  const last = create('last');
  await until(() => countWaiting() === 1);
  asked.shift()?.answer();
  await until(() => asked.at(-1)?.what === 'last');
  assert.ok(asked.every(({ what }) => what !== 'Rex'));
  await answerAll([...sent, last]);
});

test('fair queue › a key that is revoked while its request waits › is refused', async (t) => {
  // However busy the machine is, the request does not wait for too long.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const key = await addKey(real.store, { environment: 'staging' });
  const { id = 0 } = (await real.store.keys.list()).at(-1) ?? {};
  const sent = await fill(READS_MAX, (index) => get(index));
  const waiting = get(9_000, { authorization: `Bearer ${key}` });
  await until(() => countWaiting() === 1);
  await real.store.keys.revoke(id, Date.now());
  // A key is kept for half a second.
  const now = performance.now() + 500;
  t.mock.method(performance, 'now', () => now);
  await answerAll([...sent, waiting]);
  assertError(await waiting, 'unauthorized', /API key/);
});
