/** Many requests on one connection at once: all are answered in their order, a few are at work at a time. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCursor } from '../../src/http/operations/list-pets.ts';
import { startTestApp } from '../support/app.ts';
import { countPets } from '../support/count-pets.ts';
import { exchange, openConnection } from '../support/socket.ts';
import { until } from '../support/until.ts';

const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
const { port, key, store } = service;

const FIELDS = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
const CLOSE = 'Connection: close\r\n';
const get = (id: number, fields = '') => `GET /v1/pets/${id} HTTP/1.1\r\n${FIELDS}${fields}\r\n`;
const post = (name: string, fields = '') => {
  const body = JSON.stringify({ name, categoryId: 1 });
  return `POST /v1/pets HTTP/1.1\r\n${FIELDS}${fields}Content-Length: ${body.length}\r\n\r\n${body}`;
};
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const statuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);

test('pipelining › 1,000 creates at once › are all answered, in their order', async () => {
  const requests = numbers(1_000).map((n) => post(`pet ${n}`, n === 1_000 ? CLOSE : ''));
  const text = await exchange(port, requests.join(''));
  const names = [...text.matchAll(/"name":"pet (\d+)"/g)].map(([, name]) => Number(name));
  assert.deepEqual(names, numbers(1_000));
});

test('pipelining › 100 requests at once › are at work one at a time', async ({ mock }) => {
  const find = store.pets.find;
  let atWork = 0;
  let most = 0;
  mock.method(store.pets, 'find', async (id: bigint) => {
    atWork += 1;
    most = Math.max(most, atWork);
    await sleep(2);
    atWork -= 1;
    return find(id);
  });
  await exchange(port, get(1).repeat(99) + get(1, CLOSE));
  assert.equal(most, 1);
});

test('pipelining › idle connections are closed between two requests › the second one is answered', async () => {
  const { server } = service.app;
  server.once('request', (_request, response) =>
    response.once('close', () => server.closeIdleConnections()),
  );
  assert.deepEqual(statuses(await exchange(port, get(1) + get(1, CLOSE))), ['200', '200']);
});

test('pipelining › a body in two parts behind requests that wait › is read', async () => {
  const create = post('late', CLOSE);
  using connection = openConnection(port);
  connection.socket.write(get(1).repeat(50) + create.slice(0, -10));
  await sleep(100);
  connection.socket.write(create.slice(-10));
  const text = await connection.readToEnd();
  assert.deepEqual(statuses(text), [...numbers(50).map(() => '200'), '201']);
});

for (const [what, request, expected] of [
  ['a bad Host', 'GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n', '400'],
  ['Connection: close', get(1, CLOSE), '200'],
  ['Connection: close in HTTP/1.0', get(1).replace('HTTP/1.1', 'HTTP/1.0'), '200'],
  ['a create with Connection: close', post('last', CLOSE), '201'],
] as const) {
  test(`pipelining › creates behind a request with ${what} › are not executed`, async () => {
    const before = await countPets(store.pets);
    const text = await exchange(port, get(1) + request + post('never').repeat(3), post('never'));
    assert.deepEqual(statuses(text), ['200', expected]);
    assert.equal(await countPets(store.pets), before + (expected === '201' ? 1 : 0));
  });
}

test('pipelining › a request behind an upgrade that is not served › is answered', async () => {
  const upgrade = get(1, 'Connection: upgrade\r\nUpgrade: h2c\r\n');
  const text = await exchange(port, upgrade + get(2) + upgrade + post('after', CLOSE));
  assert.deepEqual(statuses(text), ['200', '200', '200', '201']);
});

test('pipelining › an upgrade that is not served, with a body in two parts › is answered', async () => {
  const upgrade = post('upgrade', 'Connection: upgrade\r\nUpgrade: h2c\r\n');
  const half = upgrade.length - 9;
  const text = await exchange(port, upgrade.slice(0, half), upgrade.slice(half) + get(1, CLOSE));
  assert.deepEqual(statuses(text), ['201', '200']);
});

test('pipelining › a client that ends its side while requests wait › gets answers in order, and the end', async () => {
  using connection = openConnection(port, { allowHalfOpen: true });
  connection.socket.end(
    numbers(12)
      .map((n) => get(n))
      .join(''),
  );
  const ids = [...(await connection.readToEnd()).matchAll(/\{"id":(\d+),/g)].map(([, id]) =>
    Number(id),
  );
  // The answer that is at work when the end is read is lost, as with any server on node:http.
  assert.deepEqual(ids, numbers(12).slice(0, ids.length));
  assert.ok(ids.length >= 11);
});

test('pipelining › a client that reads no answer › gets no more work done, and is cut off', async () => {
  await store.pets.addAll(
    (async function* () {
      for (const n of numbers(100)) yield { name: '\u0001'.repeat(253), categoryId: BigInt(n) };
    })(),
  );
  const lists = () => service.log.filter(({ route }) => route === '/v1/pets').length;
  const before = lists();
  const accepted = once(service.app.server, 'connection');
  using connection = openConnection(port);
  const [accepting] = (await accepted) as [Socket];
  connection.socket.pause();
  const target = `/v1/pets?limit=100&cursor=${createCursor(1_000n)}`;
  connection.socket.write(`GET ${target} HTTP/1.1\r\n${FIELDS}\r\n`.repeat(1_000));
  await until(() => accepting.writableLength > 0);
  const answered = lists() - before;
  await once(accepting, 'close');
  // The kernel has taken the first ones.
  assert.equal(lists() - before, answered);
});
