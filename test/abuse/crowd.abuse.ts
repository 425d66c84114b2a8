/** Many clients: of a few keys, of keys that nobody gave them, and more than there is room for. */

import type { Socket } from 'node:net';
import { createApiKeyText } from '../../src/api-key.ts';
import {
  addSmallPets,
  NEW_P99_MS_MAX,
  type Target,
  TEN_KEYS_P99_MS_MAX,
  testAttack,
} from './attack.ts';

const BODY = JSON.stringify({ name: 'Rex', categoryId: 1 });
const toHead = (key = '') => `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
const list = (key?: string) => `GET /v1/pets?limit=100 HTTP/1.1\r\n${toHead(key)}\r\n`;
const create = (key?: string) =>
  `POST /v1/pets HTTP/1.1\r\n${toHead(key)}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;

/** Sends so many requests, and another one for each answer. */
function sendForEach(socket: Socket, request: string, waiting: number): void {
  socket.setEncoding('latin1').on('data', (text: string) => {
    socket.write(request.repeat(text.split('HTTP/1.1 ').length - 1));
  });
  socket.write(request.repeat(waiting));
}

for (const [limit, args] of [
  ['', []],
  // More than what the clients beside the attack send.
  [' above their rate limit', ['--rate-limit', '200']],
] as const) {
  for (const write of [list, create]) {
    const what = `${write.name} by one key without a pause${limit}`;
    testAttack(what, 500, (socket, key) => sendForEach(socket, write(key), 4), {
      ...{ args, prepare: addSmallPets },
    });
  }
}

const withoutKey = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n';
testAttack('wait for each answer, without a key', 1_500, (to) => sendForEach(to, withoutKey, 1), {
  p99MsMax: TEN_KEYS_P99_MS_MAX,
});

let keys: string[] = [];
let opened = 0;
const ROOM = ['--max-connections', '300'];
/** Of clients that have to connect anew, since all places are taken. */
const ANEW = NEW_P99_MS_MAX;
for (const [what, clients, write, keyCount, waiting, p99MsMax, args, onPostgres] of [
  ['list by ten keys without a pause', 500, list, 10, 4, TEN_KEYS_P99_MS_MAX, [], false],
  ['list by one key, with room for 300', 360, list, 1, 1, ANEW, ROOM, false],
  ['create by two keys, with room for 300', 360, create, 2, 1, ANEW, ROOM, true],
  ['create by one key', 2_400, create, 1, 1, ANEW, [], false],
] as const) {
  const attack = (socket: Socket) => {
    opened += 1;
    sendForEach(socket, write(keys[opened % keys.length]), waiting);
  };
  const prepare = async (service: Target) => {
    await addSmallPets(service);
    keys = await Promise.all(Array.from({ length: keyCount }, () => service.createKey()));
  };
  testAttack(what, clients, attack, { args, prepare, p99MsMax, onPostgres });
}

for (const [place, onPostgres, delayMs] of [
  ['SQLite', false, 0],
  ['PostgreSQL', true, 0],
  ['PostgreSQL that is 40 ms away', true, 20],
] as const) {
  // Each key is well-formed, so only the database knows that it is none.
  const write = (socket: Socket) => socket.write(list(createApiKeyText('staging')));
  testAttack(
    `send another invented key to a store on ${place} after each answer`,
    500,
    (socket) => {
      socket.on('data', () => write(socket));
      write(socket);
    },
    { onPostgres, delayMs, p99MsMax: TEN_KEYS_P99_MS_MAX },
  );
}

for (const [what, bytes] of [
  ['nothing', ''],
  ['half a head', 'GET /livez HTTP/1.1\r\nHos'],
] as const) {
  testAttack(`send ${what}, with room for 300`, 500, (socket) => socket.write(bytes), {
    args: ROOM,
  });
}

testAttack('connect anew for each list', 300, (socket, key) => {
  socket.resume();
  socket.write(list(`${key}\r\nConnection: close`));
});
