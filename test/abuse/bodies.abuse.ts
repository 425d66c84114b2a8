/** Clients whose bodies have no end, or cost much for their bytes. */

import type { Socket } from 'node:net';
import { writeForEver } from '../support/socket.ts';
import { NEW_P99_MS_MAX, testAttack } from './attack.ts';

const KIB = 1024;
const HOST = 'Host: x\r\n';
/** The key of the service takes the place of the word. */
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
  testAttack(`send without end, with ${what}`, 50, (socket, key) => {
    socket.write(head.replace('KEY', key));
    socket.resume();
    writeForEver(socket, part);
  });
}

const create = (body: string) => `${POST}${KEY}Content-Length: ${body.length}\r\n\r\n${body}`;

for (const [clients, what, request] of [
  [5, 'creates with a string of escaped quotes', create(`{"${'\\"'.repeat(32 * KIB - 1)}`)],
  [20, 'creates with 65,536 brackets', create('['.repeat(64 * KIB))],
  [20, 'creates with as many members', create(`{"a":{${'"a":{},'.repeat(9 * KIB)}`)],
  [100, 'heads with 4,000 fields and no key', `GET / HTTP/1.1\r\n${'a:\r\n'.repeat(4_000)}\r\n`],
] as const) {
  testAttack(`send ${what}`, clients, (socket, key) => {
    const sent = request.replace('KEY', key);
    socket.on('data', () => socket.write(sent));
    socket.write(sent);
  });
}

const UNENDED = `Content-Length: 65536\r\n\r\n${'{'.repeat(65_535)}`;

for (const [clients, what, bytes] of [
  [60, 'in chunks of a byte', `${CHUNKED}\r\n${'1\r\n{\r\n'.repeat(60_000)}`],
  [1_000, 'of 64 KiB without the last byte', UNENDED],
  [4_096, 'of 64 KiB without the last byte', UNENDED],
  [4_096, 'that never come', 'Content-Length: 29\r\n\r\n'],
] as const) {
  // Where all connections are taken, the clients beside the attack may have to connect anew.
  const options = clients === 4_096 ? { p99MsMax: NEW_P99_MS_MAX } : {};
  const attack = (socket: Socket, key: string) => {
    socket.write((POST + KEY + bytes).replace('KEY', key));
    socket.resume();
  };
  testAttack(`send bodies ${what}`, clients, attack, options);
}
