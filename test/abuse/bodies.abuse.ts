/** Clients that send bodies without end, which nobody reads. */

import { after, test } from 'node:test';
import { assertBears, startTarget, writeForEver } from './attack.ts';

const service = await startTarget();
after(() => service[Symbol.asyncDispose]());
const { key } = service;

const HOST = 'Host: x\r\n';
const KEY = `Authorization: Bearer ${key}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const LONG = 'Content-Length: 100000000000\r\n';
const BYTES = Buffer.alloc(64 * 1024, '{');
const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), BYTES, Buffer.from('\r\n')]);

for (const [what, head, part] of [
  ['no key, in chunks', `POST /v1/pets HTTP/1.1\r\n${HOST}${CHUNKED}\r\n`, CHUNK],
  ['no key, announced', `POST /v1/pets HTTP/1.1\r\n${HOST}${LONG}\r\n`, BYTES],
  ['no path, in chunks', `POST /nothing HTTP/1.1\r\n${HOST}${CHUNKED}\r\n`, CHUNK],
  ['a key, in chunks', `POST /v1/pets HTTP/1.1\r\n${HOST}${KEY}${CHUNKED}\r\n`, CHUNK],
  ['a head without an end', `GET / HTTP/1.1\r\n${HOST}X: `, BYTES],
] as const) {
  test(`abuse › 50 clients that send without end, with ${what} › is borne`, async (t) => {
    const figures = await assertBears(service, 50, (socket) => {
      socket.write(head);
      socket.resume();
      writeForEver(socket, part);
    });
    t.diagnostic(figures);
  });
}
