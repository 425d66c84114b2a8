/** Clients that pipeline, with and without reading the answers. */

import { after, before, test } from 'node:test';
import { createCursor } from '../../src/http/cursor.ts';
import { send } from '../support/request.ts';
import { assertBears, startTarget, writeForEver } from './attack.ts';

const service = await startTarget();
after(() => service[Symbol.asyncDispose]());
const { port, key } = service;

const FIELDS = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
const PETS = 300;
/** A page of 100 pets of 1.6 KB; each number up to 200 gives another one. */
const list = (number: number) =>
  `GET /v1/pets?limit=100&cursor=${createCursor(BigInt(number % 200))} HTTP/1.1\r\n${FIELDS}\r\n`;
const lists = Array.from({ length: 99 }, (_, index) => list(index)).join('');
const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
const create = `POST /v1/pets HTTP/1.1\r\n${FIELDS}Content-Length: ${body.length}\r\n\r\n${body}`;

before(async () => {
  const pet = { name: '\u0001'.repeat(253), categoryId: 1 };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sent = { method: 'POST', path: '/v1/pets', headers, body: JSON.stringify(pet) };
  await Promise.all(Array.from({ length: PETS }, () => send(port, sent)));
});

for (const [what, connections, reads, part] of [
  ['60 clients that pipeline large lists and read nothing', 60, false, lists],
  ['60 clients that pipeline large lists and read all', 60, true, lists],
  [
    '200 clients that pipeline small requests and read nothing',
    200,
    false,
    'GET / HTTP/1.1\r\nHost:x\r\n\r\n'.repeat(2_500),
  ],
  ['20 clients that pipeline creates and read nothing', 20, false, create.repeat(200)],
] as const) {
  test(`abuse › ${what} › is borne`, async (t) => {
    const figures = await assertBears(service, connections, (socket) => {
      if (reads) socket.resume();
      else socket.pause();
      writeForEver(socket, part);
    });
    t.diagnostic(figures);
  });
}
