/** Clients that ask for the script of the docs page, and read nothing of it. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { send } from '../support/request.ts';
import { assertBears, startTarget } from './attack.ts';

const CONNECTIONS = 500;

const service = await startTarget();
after(() => service[Symbol.asyncDispose]());
const { port } = service;

let path = '';
before(async () => {
  const { body } = await send(port, { path: '/docs/' });
  path = `/docs/${/js\/scalar-[\d.]+\.js/.exec(body)?.[0]}`;
});

for (const coding of ['br', 'identity']) {
  test(`abuse › ${CONNECTIONS} clients that ask for the docs script as ${coding} and do not read it › are borne`, async (t) => {
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ${coding}\r\n\r\n`;
    const figures = await assertBears(service, CONNECTIONS, (socket) => {
      socket.pause();
      socket.write(request.repeat(8));
    });
    t.diagnostic(figures);
    assert.equal((await send(port, { path })).status, 200);
  });
}
