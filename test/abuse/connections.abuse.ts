/** More connections than there is room for, none of which sends a request. */

import { after, test } from 'node:test';
import { assertBears, startTarget } from './attack.ts';

const CONNECTIONS = 500;
const ROOM = 300;

const service = await startTarget(['--max-connections', String(ROOM)]);
after(() => service[Symbol.asyncDispose]());

for (const [what, bytes] of [
  ['nothing', ''],
  ['half a head', 'GET /livez HTTP/1.1\r\nHos'],
] as const) {
  test(`abuse › ${CONNECTIONS} clients that send ${what}, with room for ${ROOM} › are borne`, async (t) => {
    t.diagnostic(await assertBears(service, CONNECTIONS, (socket) => socket.write(bytes)));
  });
}
