/** What connections leave in the memory of the service once they are closed: nothing. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createApiKeyText } from '../../src/api-key.ts';
import { startTestApp } from '../support/app.ts';
import { exchange, openConnection } from '../support/socket.ts';
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

test('connections › with a body that came before its refusal, and left open › keep no body', async () => {
  const request = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${createApiKeyText('staging')}\r\nContent-Length: 60000\r\n\r\n`;
  const bytes = Buffer.concat([Buffer.from(request), Buffer.alloc(60_000, ' ')]);
  const countBytes = () => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  const before = countBytes();
  const connections = Array.from({ length: 100 }, () => openConnection(port));
  for (const { socket } of connections) socket.write(bytes);
  await Promise.all(connections.map(({ socket }) => once(socket, 'data')));
  for (const { received } of connections) assert.match(received, /^HTTP\/1\.1 401 /);
  await until(() => countBytes() - before < 10 * bytes.length);
  for (const connection of connections) connection[Symbol.dispose]();
});
