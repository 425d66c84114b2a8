/** What connections leave in the memory of the service once they are closed: nothing. */

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startTestApp } from '../support/app.ts';
import { exchange } from '../support/socket.ts';
import { until } from '../support/until.ts';

const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
const { port, app } = service;

const ROUNDS = 10;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('connections › with a request, garbage or CONNECT, and closed › leave no socket in memory', async () => {
  const sockets: WeakRef<Socket>[] = [];
  app.server.on('connection', (socket) => sockets.push(new WeakRef(socket)));
  for (let round = 0; round < ROUNDS; round += 1) {
    await exchange(port, 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await exchange(port, 'garbage\r\n\r\n');
    await exchange(port, 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n');
  }
  assert.ok(sockets.length >= 3 * ROUNDS);
  // The last ones may still be on the stack, or in a cache of Node.
  await until(() => {
    collectGarbage();
    return sockets.filter((socket) => socket.deref() !== undefined).length < ROUNDS / 2;
  });
});
