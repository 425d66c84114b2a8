/** More connections than there is room for, and clients that connect again and again. */

import { testAttack } from './attack.ts';

for (const [what, bytes] of [
  ['nothing', ''],
  ['half a head', 'GET /livez HTTP/1.1\r\nHos'],
] as const) {
  testAttack(`send ${what}, with room for 300`, 500, (socket) => socket.write(bytes), {
    args: ['--max-connections', '300'],
  });
}

testAttack('connect anew for each list', 300, (socket, key) => {
  const head = `Host: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n`;
  socket.resume();
  socket.write(`GET /v1/pets HTTP/1.1\r\n${head}\r\n`);
});
