/** Clients that ask for large pages and do not read them; most of it only where packets are small, as with an MTU of 1,500. */

import { addLargePets, testAttack } from './attack.ts';

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
