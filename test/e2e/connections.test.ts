/** The connections of the real program under a low soft limit of open files. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const cwd = createProcessFolder();
/** More than there may be open files before Node raises the soft limit to the hard limit. */
const CONNECTIONS = 400;
const within = ['bash', '-c', 'ulimit -Sn 256; exec "$0" "$@"'];

for (const [what, args] of [
  ['one process', []],
  ['workers', ['--workers', '2']],
] as const) {
  test(`serve › ${what} with a soft limit of fewer files than connections › answers on all of them`, async () => {
    const all = ['--database', 'sqlite:pets.db', ...args];
    await using service = await startService(all, { cwd, within });
    const sockets = Array.from({ length: CONNECTIONS }, () => connect(service.port, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    const answers = await Promise.all(sockets.map((socket) => once(socket, 'data')));
    for (const [answer] of answers) assert.match(String(answer), /^HTTP\/1\.1 200 OK/);
    for (const socket of sockets) socket.destroy();
  });
}
