/** Clients whose bodies have no end, or cost much for their bytes. */

import type { Socket } from 'node:net';
import { test } from 'node:test';
import { assertBears, NEW_P99_MS_MAX, startTarget, writeForEver } from './attack.ts';

const KIB = 1024;
const HOST = 'Host: x\r\n';
/** The test puts the key of its own service in the place of the word. */
const KEY = 'Authorization: Bearer KEY\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const LONG = 'Content-Length: 100000000000\r\n';
const BYTES = Buffer.alloc(64 * KIB, '{');
const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), BYTES, Buffer.from('\r\n')]);
const POST = `POST /v1/pets HTTP/1.1\r\n${HOST}`;

for (const [what, head, part] of [
  ['no key, in chunks', `${POST}${CHUNKED}\r\n`, CHUNK],
  ['no key, announced', `${POST}${LONG}\r\n`, BYTES],
  ['no path, in chunks', `POST /nothing HTTP/1.1\r\n${HOST}${CHUNKED}\r\n`, CHUNK],
  ['a key, in chunks', `${POST}${KEY}${CHUNKED}\r\n`, CHUNK],
  ['a head without an end', `GET / HTTP/1.1\r\n${HOST}X: `, BYTES],
] as const) {
  test(`abuse › 50 clients that send without end, with ${what} › is borne`, async (t) => {
    await using service = await startTarget();
    const sent = head.replace('KEY', service.key);
    const figures = await assertBears(service, 50, (socket) => {
      socket.write(sent);
      socket.resume();
      writeForEver(socket, part);
    });
    t.diagnostic(figures);
  });
}

const create = (body: string) => `${POST}${KEY}Content-Length: ${body.length}\r\n\r\n${body}`;

for (const [clients, what, request] of [
  [5, 'creates with a string of escaped quotes', create(`{"${'\\"'.repeat(32 * KIB - 1)}`)],
  [20, 'creates with 65,536 brackets', create('['.repeat(64 * KIB))],
  [20, 'creates with as many members', create(`{"a":{${'"a":{},'.repeat(9 * KIB)}`)],
  [100, 'heads with 4,000 fields and no key', `GET / HTTP/1.1\r\n${'a:\r\n'.repeat(4_000)}\r\n`],
] as const) {
  test(`abuse › ${clients} clients that send ${what} › are borne`, async (t) => {
    await using service = await startTarget();
    const sent = request.replace('KEY', service.key);
    const figures = await assertBears(service, clients, (socket) => {
      socket.on('data', () => socket.write(sent));
      socket.write(sent);
    });
    t.diagnostic(figures);
  });
}

for (const [clients, what, bytes] of [
  [60, 'in chunks of a byte', `${CHUNKED}\r\n${'1\r\n{\r\n'.repeat(60_000)}`],
  [1_000, 'of 64 KiB without the last byte', `Content-Length: 65536\r\n\r\n${'{'.repeat(65_535)}`],
  [4_096, 'of 64 KiB without the last byte', `Content-Length: 65536\r\n\r\n${'{'.repeat(65_535)}`],
  [4_096, 'that never come', 'Content-Length: 29\r\n\r\n'],
] as const) {
  test(`abuse › ${clients} clients with bodies ${what} › are borne`, async (t) => {
    await using service = await startTarget();
    const sent = (POST + KEY + bytes).replace('KEY', service.key);
    const attack = (socket: Socket) => {
      socket.write(sent);
      socket.resume();
    };
    // Where all connections are taken, the clients beside the attack may have to connect anew.
    const p99MsMax = clients === 4_096 ? NEW_P99_MS_MAX : undefined;
    const figures = await assertBears(service, clients, attack, p99MsMax);
    t.diagnostic(figures);
  });
}
