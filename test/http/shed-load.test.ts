/** Load shedding: when a request is refused because the process has too much to do, and whose. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, afterEach, beforeEach, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AT_WORK_MAX,
  LATE_MS,
  SHARED_AT_WORK_MAX,
  SHARED_AT_WORK_MIN,
} from '../../src/http/limits.ts';
import type { NewPet } from '../../src/pet.ts';
import { addKey, startTestApp, type TestApp } from '../support/app.ts';
import { assertError, assertJson, send } from '../support/request.ts';
import { nextPoll, until } from '../support/until.ts';

/** Each second late answer halves the bound: one that began before it was halved does not count. */
const LATE_ANSWERS = 2 * Math.log2(SHARED_AT_WORK_MAX / SHARED_AT_WORK_MIN) + 2;
/** More than the greatest bound. */
const MANY = SHARED_AT_WORK_MAX / 2 + 40;
const real = await startTestApp();
const { pets } = real.store;
/** The requests that wait, and how long the answer of `/readyz` takes. */
let waiting: (() => void)[] = [];
let lateMs = 0;
const wait = () => new Promise<void>((resolve) => waiting.push(resolve));
const store = {
  ...real.store,
  pets: {
    ...pets,
    find: (id: bigint) => wait().then(() => pets.find(id)),
    add: (pet: NewPet) => wait().then(() => pets.add(pet)),
  },
  check: () => sleep(lateMs).then(real.store.check),
  close: async () => {},
};
let service: TestApp;
let port: number;
/** The gets of one pet and the creates that the service has begun. */
let begun = 0;
after(() => real[Symbol.asyncDispose]());
const mine = real.authorization;
const other = { authorization: `Bearer ${await addKey(real.store, { environment: 'staging' })}` };
const FIELDS = `Host: x\r\nAuthorization: ${mine.authorization}\r\n`;
const NO_PET = '/v1/pets/9000000000';
const GET = `GET ${NO_PET} HTTP/1.1\r\n${FIELDS}\r\n`;
const BODY = '{"name":"Rex","categoryId":1}';
const CREATE = `POST /v1/pets HTTP/1.1\r\n${FIELDS}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
const list = (headers: typeof mine) => send(port, { path: '/v1/pets?limit=1', headers });

let isOver = false;
/** Ends with the late answers. */
let checking: unknown;
let spinning: NodeJS.Immediate | undefined;

/** Keeps the event loop busy: it has something to do at each turn. */
function spin(): void {
  spinning = setImmediate(spin);
}

/** Makes it look as busy, without taking the processor from the tests that run beside. */
function lookBusy({ mock }: TestContext): void {
  mock.method(performance, 'eventLoopUtilization', () => ({ idle: 0, active: 1, utilization: 1 }));
}

/** Has late answers until the test ends; resolves when there were so many that the bound is the least. */
async function answerLate(): Promise<void> {
  lateMs = 2 * LATE_MS;
  const check = () => send(port, { path: '/readyz' });
  for (let count = 0; count < LATE_ANSWERS; count += 1) await check();
  const goOn = (): unknown => (isOver ? undefined : check().then(goOn));
  checking = goOn();
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

/** Resolves when so many gets of one pet and creates more have begun, and each is at work or refused. */
async function allBegin(count: number): Promise<void> {
  await until(() => begun >= count);
  begun -= count;
  // Their key is looked up before this.
  await real.store.keys.list();
  await nextPoll();
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

describe('load shedding', () => {
  beforeEach(async () => {
    isOver = false;
    lateMs = 0;
    waiting = [];
    begun = 0;
    service = await startTestApp({ store });
    ({ port } = service);
    service.app.server.on('request', ({ method, url }) => {
      if (url === NO_PET || method === 'POST') begun += 1;
    });
  });
  afterEach(async () => {
    clearImmediate(spinning);
    isOver = true;
    await checking;
    await service[Symbol.asyncDispose]();
  });

  test('load shedding › more requests of a key than its share › are 503, other keys and /livez are not', async () => {
    spin();
    await answerLate();
    const many = sendMany(SHARED_AT_WORK_MIN + 40, GET);
    await allBegin(SHARED_AT_WORK_MIN + 40);
    const refused = await list(mine);
    assertError(refused, 'unavailable', /try again/);
    assert.equal(refused.headers['retry-after'], '1');
    assertJson(await list(other), 200);
    assertJson(await send(port, { path: '/livez' }), 200);
    await answerAll(many);
    assert.deepEqual(await many, { 404: SHARED_AT_WORK_MIN, 503: 40 });
    assertJson(await list(mine), 200);
    const lines = service.log.filter(({ route, status }) => route !== '/readyz' && status === 503);
    assert.ok(lines.length > 0 && lines.every(({ reason }) => /share/.test(String(reason))));
  });

  test('load shedding › lists that are answered in one turn › are at work until they are sent', async (t) => {
    lookBusy(t);
    await answerLate();
    const sockets = Array.from({ length: SHARED_AT_WORK_MIN }, () => connect(port, '127.0.0.1'));
    let text = '';
    for (const socket of sockets) socket.setEncoding('latin1').on('data', (part) => (text += part));
    await until(() => service.app.readConnections().connections >= sockets.length);
    // The page is cached, so that the answers are made at once.
    await list(mine);
    const LIST = `GET /v1/pets?limit=1 HTTP/1.1\r\n${FIELDS}\r\n`;
    for (const socket of sockets) socket.write(LIST.repeat(AT_WORK_MAX));
    const count = (status: number) => text.split(`HTTP/1.1 ${status} `).length - 1;
    await until(() => count(200) + count(503) === sockets.length * AT_WORK_MAX);
    for (const socket of sockets) socket.destroy();
    assert.ok(count(503) > 0);
  });

  test('load shedding › two keys that have requests at work › share equally', async (t) => {
    lookBusy(t);
    await answerLate();
    const one = send(port, { path: NO_PET, headers: other });
    await allBegin(1);
    const many = sendMany(SHARED_AT_WORK_MIN, GET);
    await allBegin(SHARED_AT_WORK_MIN);
    await answerAll(many);
    assert.deepEqual(await many, { 404: SHARED_AT_WORK_MIN / 2, 503: SHARED_AT_WORK_MIN / 2 });
    assert.equal((await one).status, 404);
  });

  test('load shedding › answers that are late no longer › let the share grow again', async (t) => {
    lookBusy(t);
    await answerLate();
    isOver = true;
    const isAllAnswered = async () => {
      // Creates: gets that wait would be late themselves.
      const many = sendMany(2 * SHARED_AT_WORK_MIN, CREATE);
      await allBegin(2 * SHARED_AT_WORK_MIN);
      await answerAll(many);
      return (await many)[201] === 2 * SHARED_AT_WORK_MIN;
    };
    assert.equal(await isAllAnswered(), false);
    await until(isAllAnswered);
  });

  test('load shedding › a key whose clients have gone › has its whole share', async (t) => {
    const gone = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'));
    for (const socket of gone) socket.write(GET.repeat(AT_WORK_MAX));
    await allBegin(gone.length * AT_WORK_MAX);
    for (const socket of gone) socket.destroy();
    await until(() => service.app.readConnections().connections === 0);
    for (const resolve of waiting.splice(0)) resolve();
    lookBusy(t);
    await answerLate();
    const many = sendMany(SHARED_AT_WORK_MIN, GET);
    await allBegin(SHARED_AT_WORK_MIN);
    await answerAll(many);
    assert.deepEqual(await many, { 404: SHARED_AT_WORK_MIN });
  });

  test('load shedding › creates that wait for a slow disk › leave the key its reads', async (t) => {
    lookBusy(t);
    const many = sendMany(MANY, CREATE);
    await allBegin(MANY);
    for (const resolve of waiting.splice(0, 20)) resolve();
    await sleep(2 * LATE_MS);
    assertJson(await list(mine), 200);
    await answerAll(many);
    assert.deepEqual(await many, { 201: MANY });
    assertJson(await list(mine), 200);
  });

  test('load shedding › gets that wait for a slow database, while this process is idle › are all answered', async () => {
    const many = sendMany(MANY, GET);
    await allBegin(MANY);
    await answerLate();
    assertJson(await list(mine), 200);
    await answerAll(many);
    assert.deepEqual(await many, { 404: MANY });
  });
});
