/** Clients that send on before they have their answers: requests, garbage, methods that nobody routes. */

import type { Socket } from 'node:net';
import { createCursor } from '../../src/http/cursor.ts';
import { SCRIPT_NAME } from '../../src/http/routes/docs.ts';
import { writeForEver } from '../support/socket.ts';
import { addLargePets, testAttack } from './attack.ts';

const FIELDS = 'Host: x\r\nAuthorization: Bearer KEY\r\n';
/** A page of 100 pets of 1.6 KB; each number up to 100 gives another one. */
const list = (number: number) =>
  `GET /v1/pets?limit=100&cursor=${createCursor(BigInt(number))} HTTP/1.1\r\n${FIELDS}\r\n`;
const lists = Array.from({ length: 99 }, (_, index) => list(index)).join('');
const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
const create = `POST /v1/pets HTTP/1.1\r\n${FIELDS}Content-Length: ${body.length}\r\n\r\n${body}`;

const upgrade =
  'POST /livez HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 9\r\n\r\n';
let busy = 0;

const small = 'GET / HTTP/1.1\r\nHost:x\r\n\r\n'.repeat(2_500);
const keyless = 'GET /v1/pets HTTP/1.1\r\nHost:x\r\n\r\n'.repeat(50);

for (const [what, connections, reads, part] of [
  ['large lists and read nothing', 60, false, lists],
  ['large lists and read all', 60, true, lists],
  ['small requests and read nothing', 200, false, small],
  ['small requests and read nothing', 4_096, false, small],
  ['large lists and read all', 500, true, lists],
  ['50 requests without a key', 300, true, keyless],
  ['creates and read nothing', 20, false, create.repeat(200)],
] as const) {
  const attack = (socket: Socket, key: string) => {
    if (reads) socket.resume();
    else socket.pause();
    writeForEver(socket, part.replaceAll('KEY', key));
  };
  testAttack(`pipeline ${what}`, connections, attack, { prepare: addLargePets });
}

const script = `GET /docs/js/${SCRIPT_NAME} HTTP/1.1\r\nHost: x\r\n\r\n`;

for (const [what, connections, first, then] of [
  ['garbage behind answers that they do not read', 1, script + script, '\x01'.repeat(65_536)],
  ['garbage behind answers that they do not read', 200, script + script, '\x01'.repeat(65_536)],
  ['requests with Upgrade and bodies without end', 200, '', `${upgrade}x`.repeat(500)],
  ['requests for the docs script and read nothing', 500, script.repeat(8), ''],
  ['requests of RTSP', 200, '', 'DESCRIBE / RTSP/1.1\r\n\r\n'.repeat(100)],
] as const) {
  const attack = (socket: Socket) => {
    socket.pause();
    socket.write(first);
    if (then !== '') writeForEver(socket, then);
  };
  testAttack(`send ${what}`, connections, attack);
}

const missing = 'GET /none HTTP/1.1\r\nHost: x\r\n\r\n';

testAttack('send 404s, 300 on one connection and 600 on a new one each', 900, (socket) => {
  busy += 1;
  const isBusy = busy <= 300;
  socket.on('data', () => (isBusy ? socket.write(missing) : socket.destroy()));
  socket.write(missing);
});

const toPage = (key: string) =>
  `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
let opened = 0;
let beside = 0;

testAttack(
  'come 100 a second, ask for 8 large pages and read nothing',
  4_000,
  (socket, key) => {
    socket.pause();
    opened += 1;
    const timer = setTimeout(() => socket.write(toPage(key).repeat(8)), opened * 10);
    socket.once('close', () => clearTimeout(timer));
  },
  { prepare: addLargePets },
);

testAttack(
  'list by one key, 20 of which do not read',
  70,
  (socket, key) => {
    beside += 1;
    socket.write(toPage(key));
    if (beside <= 20) socket.pause();
    else {
      socket.setEncoding('latin1').on('data', (text: string) => {
        if (text.endsWith(']')) socket.write(toPage(key));
      });
    }
  },
  { prepare: addLargePets },
);
