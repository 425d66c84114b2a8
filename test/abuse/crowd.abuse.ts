/** Many clients of one key that send requests without a pause. */

import { after, before, test } from 'node:test';
import { send } from '../support/request.ts';
import { assertBears, startTarget } from './attack.ts';

const CONNECTIONS = 500;
/** Requests of each that wait for their answers. */
const AT_WORK = 4;
const PETS = 300;

const service = await startTarget();
after(() => service[Symbol.asyncDispose]());
const { port, key } = service;

const FIELDS = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
const BODY = JSON.stringify({ name: 'Rex', categoryId: 1 });
const CREATE = `POST /v1/pets HTTP/1.1\r\n${FIELDS}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
const LIST = `GET /v1/pets?limit=100 HTTP/1.1\r\n${FIELDS}\r\n`;

before(async () => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sent = { method: 'POST', path: '/v1/pets', headers, body: BODY };
  await Promise.all(Array.from({ length: PETS }, () => send(port, sent)));
});

for (const [what, part] of [
  ['list', LIST],
  ['create', CREATE],
] as const) {
  test(`abuse › ${CONNECTIONS} clients of one key that ${what} without a pause › are borne`, async (t) => {
    const figures = await assertBears(service, CONNECTIONS, (socket) => {
      socket.setEncoding('latin1').on('data', (text: string) => {
        socket.write(part.repeat(text.split('HTTP/1.1 ').length - 1));
      });
      socket.once('connect', () => socket.write(part.repeat(AT_WORK)));
    });
    t.diagnostic(figures);
  });
}
