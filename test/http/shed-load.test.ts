/** Load shedding: when a request is refused because the process has too much to do, and whose. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AT_WORK_MAX, LATE_MS, SHARED_AT_WORK } from '../../src/http/limits.ts';
import { addKey, startTestApp } from '../support/app.ts';
import { assertError, assertJson, send } from '../support/request.ts';

/** The requests of a test begin in this time. */
const BEGIN_MS = 1_500;

const real = await startTestApp();
const { pets } = real.store;
/** The requests that wait, and how long the answer of `/readyz` takes. */
let waiting: (() => void)[] = [];
let lateMs = 0;
const wait = () => new Promise<void>((resolve) => waiting.push(resolve));
const service = await startTestApp({
  store: {
    ...real.store,
    pets: {
      ...pets,
      find: (id) => wait().then(() => pets.find(id)),
      add: (pet) => wait().then(() => pets.add(pet)),
    },
    check: () => sleep(lateMs).then(real.store.check),
    close: async () => {},
  },
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await real[Symbol.asyncDispose]();
});
const { port } = service;
const mine = real.authorization;
const other = { authorization: `Bearer ${await addKey(real.store, { environment: 'staging' })}` };
const FIELDS = `Host: x\r\nAuthorization: ${mine.authorization}\r\n`;
const GET = `GET /v1/pets/1 HTTP/1.1\r\n${FIELDS}\r\n`;
const BODY = '{"name":"Rex","categoryId":1}';
const CREATE = `POST /v1/pets HTTP/1.1\r\n${FIELDS}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
const list = (headers: typeof mine) => send(port, { path: '/v1/pets?limit=1', headers });

let isOver = false;
let spinning: NodeJS.Immediate | undefined;

/** Keeps the event loop busy: it has something to do at each turn. */
function spin(): void {
  spinning = setImmediate(spin);
}

/** Has late answers until the test ends; resolves after the first of them. */
async function answerLate(): Promise<void> {
  lateMs = 2 * LATE_MS;
  const check = () => send(port, { path: '/readyz' });
  await check();
  const goOn = (): unknown => (isOver ? undefined : check().then(goOn));
  goOn();
  await sleep(2 * LATE_MS);
}

/** Sends that many requests on as few connections as take them all; resolves to how often each status came. */
async function sendMany(count: number, request: string): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  const sendSome = async (some: number) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.write(request.repeat(some - 1) + request.replace('\r\n', '\r\nConnection: close\r\n'));
    await once(socket, 'close');
    for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  const connections = Array.from({ length: Math.ceil(count / AT_WORK_MAX) }, (_, index) =>
    sendSome(Math.min(AT_WORK_MAX, count - index * AT_WORK_MAX)),
  );
  await Promise.all(connections);
  return statuses;
}

/** Lets all that waits go on, and what comes after it too. */
async function answerAll(many: Promise<unknown>): Promise<void> {
  let isAnswered = false;
  void many.then(() => {
    isAnswered = true;
  });
  while (!isAnswered) {
    for (const resolve of waiting.splice(0)) resolve();
    await sleep(10);
  }
}

beforeEach(() => {
  isOver = false;
  lateMs = 0;
  waiting = [];
});
afterEach(async () => {
  clearImmediate(spinning);
  isOver = true;
  // For as long as Retry-After says, answers count as late.
  await sleep(1_500);
});

test('load shedding › more requests of a key than its share › are 503, other keys and /livez are not', async () => {
  spin();
  await answerLate();
  const many = sendMany(SHARED_AT_WORK + 40, GET);
  await sleep(BEGIN_MS);
  const refused = await list(mine);
  assertError(refused, 'unavailable', /try again/);
  assert.equal(refused.headers['retry-after'], '1');
  assertJson(await list(other), 200);
  assertJson(await send(port, { path: '/livez' }), 200);
  await answerAll(many);
  assert.deepEqual(await many, { 404: SHARED_AT_WORK, 503: 40 });
  assertJson(await list(mine), 200);
  const lines = service.log.filter(({ route, status }) => route !== '/readyz' && status === 503);
  assert.ok(lines.length > 0 && lines.every(({ reason }) => /share/.test(String(reason))));
});

test('load shedding › two keys that have requests at work › share equally', async () => {
  spin();
  await answerLate();
  const one = send(port, { path: '/v1/pets/1', headers: other });
  await sleep(50);
  const many = sendMany(SHARED_AT_WORK, GET);
  await sleep(BEGIN_MS);
  await answerAll(many);
  assert.deepEqual(await many, { 404: SHARED_AT_WORK / 2, 503: SHARED_AT_WORK / 2 });
  assert.equal((await one).status, 404);
});

test('load shedding › a key whose clients have gone › has its whole share', async () => {
  const gone = Array.from({ length: 150 }, () => connect(port, '127.0.0.1'));
  for (const socket of gone) socket.write(GET.repeat(AT_WORK_MAX));
  await sleep(BEGIN_MS);
  for (const socket of gone) socket.destroy();
  await sleep(100);
  for (const resolve of waiting.splice(0)) resolve();
  spin();
  await answerLate();
  const many = sendMany(SHARED_AT_WORK, GET);
  await sleep(BEGIN_MS);
  await answerAll(many);
  assert.deepEqual(await many, { 404: SHARED_AT_WORK });
});

test('load shedding › creates that wait for a slow disk › leave the key its reads', async () => {
  spin();
  const many = sendMany(SHARED_AT_WORK + 40, CREATE);
  await sleep(BEGIN_MS);
  for (const resolve of waiting.splice(0, 20)) resolve();
  await sleep(2 * LATE_MS);
  assertJson(await list(mine), 200);
  await answerAll(many);
  assert.deepEqual(await many, { 201: SHARED_AT_WORK + 40 });
  assertJson(await list(mine), 200);
});

test('load shedding › gets that wait for a slow database, while this process is idle › are all answered', async () => {
  const many = sendMany(SHARED_AT_WORK + 40, GET);
  await sleep(BEGIN_MS);
  await answerLate();
  assertJson(await list(mine), 200);
  await answerAll(many);
  assert.deepEqual(await many, { 200: SHARED_AT_WORK + 40 });
});
