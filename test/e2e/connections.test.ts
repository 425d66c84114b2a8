/** The connections of the real program under a low limit of open files. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const cwd = createProcessFolder();
/** More than there may be open files. */
const CONNECTIONS = 400;
const within = ['bash', '-c', 'ulimit -n 256; exec "$0" "$@"'];

for (const [what, args] of [
  ['one process', []],
  ['workers', ['--workers', '2']],
] as const) {
  test(`serve › ${what} with fewer files than --max-connections › says so once, and answers beside idle connections`, async () => {
    const all = ['--database', 'sqlite:pets.db', ...args];
    await using service = await startService(all, { cwd, within });
    const sockets = Array.from({ length: CONNECTIONS }, () =>
      connect(service.port, '127.0.0.1').on('error', () => undefined),
    );
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    assert.equal((await fetch(`${service.url}/livez`)).status, 200);
    // One of two workers has more than 182 of the connections.
    await until(() => /"connectionsMax":182/.test(service.output.stderr));
    for (const socket of sockets) socket.destroy();
    const warnings = service.output.stderr.match(/only 182 connections: .*ulimit -n/g);
    assert.equal(warnings?.length, 1);
  });
}
