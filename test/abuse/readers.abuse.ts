/** Clients that ask for large pages and do not read them; most of it only where packets are small, as with an MTU of 1,500. */

import { after, before, test } from 'node:test';
import { addLargePets, assertBears, startTarget } from './attack.ts';

const service = await startTarget();
after(() => service[Symbol.asyncDispose]());
const { key } = service;
const PAGE = `GET /v1/pets?limit=100&status=sold HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;

before(() => addLargePets(service));

test('abuse › 100 new clients a second that ask for 8 large pages and read nothing › are borne', async (t) => {
  let opened = 0;
  const figures = await assertBears(service, 4_000, (socket) => {
    socket.pause();
    opened += 1;
    const timer = setTimeout(() => socket.write(PAGE.repeat(8)), opened * 10);
    socket.once('close', () => clearTimeout(timer));
  });
  t.diagnostic(figures);
});

test('abuse › 20 clients that do not read, beside 50 of the same key › are borne', async (t) => {
  let opened = 0;
  let answers = 0;
  const figures = await assertBears(service, 70, (socket) => {
    opened += 1;
    socket.write(PAGE);
    if (opened <= 20) {
      socket.pause();
      return;
    }
    socket.setEncoding('latin1').on('data', (text: string) => {
      if (!text.endsWith(']')) return;
      answers += 1;
      socket.write(PAGE);
    });
  });
  t.diagnostic(`${figures}, ${answers} answers to the 50`);
});
