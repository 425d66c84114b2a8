/** The connections of the real program: a low limit of open files, and the bound of `--max-connections`. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const cwd = createProcessFolder();
const FILES = 256;
const CONNECTIONS = 400;
const within = ['bash', '-c', `ulimit -n ${FILES}; exec "$0" "$@"`];

/** Opens more connections than there may be open files. */
async function openMany(port: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let count = 0; count < CONNECTIONS; count += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
  }
  return sockets;
}

for (const [what, args, processes] of [
  ['one process', [], 1],
  ['workers', ['--workers', '2'], 2],
] as const) {
  test(`serve › ${what} with fewer files than --max-connections › says so once, and answers beside idle connections`, async () => {
    await using service = await startService(['--database', 'sqlite:pets.db', ...args], {
      cwd,
      within,
    });
    const sockets = await openMany(service.port);
    const answer = await fetch(`${service.url}/livez`);
    assert.equal(answer.status, 200);
    // The line of the log comes a second later.
    while (processes === 1 && !/"connectionsMax":182/.test(service.output.stderr)) await sleep(50);
    for (const socket of sockets) socket.destroy();
    const warnings = service.output.stderr.match(/only 182 connections: .*ulimit -n/g);
    assert.equal(warnings?.length, 1);
  });
}

test('serve › enough files › says nothing', async () => {
  await using service = await startService(
    ['--database', 'sqlite::memory:', '--max-connections', '100', '--log-level', 'warn'],
    { cwd, within },
  );
  assert.equal(service.output.stderr, '');
});
