/** More connections than there is room for, and clients that connect again and again. */

import { after, test } from 'node:test';
import { assertBears, startTarget } from './attack.ts';

const CONNECTIONS = 500;
const ROOM = 300;

const service = await startTarget(['--max-connections', String(ROOM)]);
after(() => service[Symbol.asyncDispose]());
const { key } = service;

for (const [what, bytes] of [
  ['nothing', ''],
  ['half a head', 'GET /livez HTTP/1.1\r\nHos'],
] as const) {
  test(`abuse › ${CONNECTIONS} clients that send ${what}, with room for ${ROOM} › are borne`, async (t) => {
    t.diagnostic(await assertBears(service, CONNECTIONS, (socket) => socket.write(bytes)));
  });
}

test('abuse › 300 clients that connect anew for each list › are borne', async (t) => {
  const request = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`;
  await using roomy = await startTarget();
  const figures = await assertBears(roomy, 300, (socket) => {
    socket.resume();
    socket.write(request.replace(key, roomy.key));
  });
  t.diagnostic(figures);
});
