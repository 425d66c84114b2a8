/** How the program stops: its requests, its connections, and its exit status. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { SCRIPT_NAME } from '../../src/http/routes/docs.ts';
import { HANG_MS } from '../support/hang.ts';
import { getAdmin, readMetrics, sum } from '../support/metrics.ts';
import { type RunningService, startService } from '../support/program.ts';
import { openConnection } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';

const BODY = '{"name":"Rex","categoryId":1}';
const CUT_MS = 10_000;
const STOPPED = { status: 0, signal: null };

const cwd = createProcessFolder();

const start = (...args: readonly string[]) =>
  startService(['--database', 'sqlite::memory:', '--log-level', 'silent', ...args], { cwd });

function writeHead(service: RunningService, bytes: number, more = ''): string {
  return `POST /v1/pets HTTP/1.1\r\nHost: petstore.test\r\nAuthorization: Bearer ${service.key}\r\nContent-Length: ${bytes}\r\n${more}\r\n`;
}

/** Sends half of a body, once the service has begun the request and waits for it. */
async function sendHalf(service: RunningService, socket: Socket): Promise<void> {
  socket.write(writeHead(service, BODY.length, 'Expect: 100-continue\r\n'));
  const [answer] = await once(socket, 'data');
  assert.equal(String(answer), 'HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(BODY.slice(0, 9));
}

async function finish(service: RunningService): Promise<unknown> {
  const { status, signal } = await within(service.finished);
  return { status, signal };
}

describe('stop', { concurrency: 3 }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`stop › ${signal} with a body on its way › takes no new connection, answers it and exits with 0`, async () => {
      await using service = await start('--admin-port', '0');
      using connection = openConnection(service.port);
      await sendHalf(service, connection.socket);
      assert.equal((await fetch(`${getAdmin(service)}/readyz`)).status, 200);
      service.process.kill(signal);
      await until(() =>
        fetch(`${service.url}/readyz`).then(
          () => false,
          () => true,
        ),
      );
      await setTimeout(300);
      assert.equal(service.process.exitCode, null);
      assert.equal(service.process.signalCode, null);
      assert.equal((await fetch(`${getAdmin(service)}/readyz`)).status, 503);
      assert.equal(sum(await readMetrics(service), 'petstore_ready'), 0);
      connection.socket.write(BODY.slice(9));
      const answer = await connection.readToEnd();
      assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/);
      assert.match(answer, /\r\nconnection: close\r\n/i);
      assert.deepEqual(await finish(service), STOPPED);
    });
  }

  test('stop › idle and silent connections › are closed and hold nothing up', async () => {
    await using service = await start();
    using silent = openConnection(service.port);
    using idle = openConnection(service.port);
    // This one does not answer the end of the service by its own.
    using halfOpen = openConnection(service.port, { allowHalfOpen: true });
    await Promise.all([once(silent.socket, 'connect'), once(halfOpen.socket, 'connect')]);
    idle.socket.write('GET /livez HTTP/1.1\r\nHost: petstore.test\r\n\r\n');
    await once(idle.socket, 'data');
    await setTimeout(100);
    const began = performance.now();
    service.process.kill('SIGTERM');
    assert.deepEqual(await finish(service), STOPPED);
    assert.ok(performance.now() - began < CUT_MS);
    assert.equal(service.output.stderr, '');
    assert.equal(await silent.readToEnd(), '');
    assert.match(await idle.readToEnd(), /^HTTP\/1\.1 200 OK\r\n/);
  });

  test('stop › clients that pipeline without a pause › get whole answers, the last of which ends the connection', async () => {
    await using service = await start();
    const clients = Array.from({ length: 4 }, () => openConnection(service.port));
    const closed = clients.map(({ socket }) => new Promise((end) => socket.once('close', end)));
    const requests = (writeHead(service, BODY.length) + BODY).repeat(50);
    const answered = clients.map(({ socket }) => once(socket, 'data'));
    for (const { socket } of clients) {
      const write = () => {
        while (!socket.destroyed && socket.writable && socket.write(requests));
      };
      socket.on('drain', write);
      write();
    }
    await Promise.all(answered);
    const began = performance.now();
    // They read late: a reset would take from them what they have not read.
    for (const { socket } of clients) socket.pause();
    service.process.kill('SIGTERM');
    await setTimeout(500);
    for (const { socket } of clients) socket.resume();
    await Promise.all(closed);
    for (const { received } of clients) {
      const answers = received.split('HTTP/1.1 ').slice(1);
      for (const answer of answers)
        assert.match(answer, /^201 Created\r\n[\s\S]*"categoryId":1\}$/);
      const last = answers.pop() ?? '';
      assert.match(last, /\r\nconnection: close\r\n/i);
      for (const answer of answers) assert.doesNotMatch(answer, /\r\nconnection: close\r\n/i);
    }
    assert.deepEqual(await finish(service), STOPPED);
    assert.ok(performance.now() - began < CUT_MS);
  });

  test('stop › an answer that is read slowly › is sent whole, and its connection closed', async () => {
    await using service = await start();
    using connection = openConnection(service.port);
    const script = `/docs/js/${SCRIPT_NAME}`;
    const { headers } = await fetch(service.url + script, { method: 'HEAD' });
    connection.socket.pause();
    // More than the kernel keeps.
    connection.socket.write(`GET ${script} HTTP/1.1\r\nHost: petstore.test\r\n\r\n`.repeat(15));
    await until(() => connection.socket.bytesRead > 0);
    const began = performance.now();
    service.process.kill('SIGTERM');
    await setTimeout(500);
    connection.socket.resume();
    const [, ...answers] = (await connection.readToEnd()).split('HTTP/1.1 200 OK\r\n');
    assert.ok(answers.length < 15);
    assert.match(answers.at(-1) ?? '', /^connection: close\r\n/im);
    const sizes = answers.map((answer) => {
      const head = `HTTP/1.1 200 OK\r\n${answer.slice(0, answer.indexOf('\r\n\r\n') + 4)}`;
      return head.length + Number(headers.get('content-length'));
    });
    assert.equal(
      connection.socket.bytesRead,
      sizes.reduce((sum, size) => sum + size),
    );
    assert.deepEqual(await finish(service), STOPPED);
    assert.ok(performance.now() - began < CUT_MS);
  });

  test('stop › a request that never ends › is cut after 10 s', async () => {
    await using service = await start();
    using connection = openConnection(service.port);
    await sendHalf(service, connection.socket);
    const began = performance.now();
    service.process.kill('SIGTERM');
    assert.deepEqual(await finish(service), STOPPED);
    const took = performance.now() - began;
    assert.ok(took > CUT_MS - 1_000 && took < CUT_MS + HANG_MS / 6, `${took} ms`);
  });

  test('stop › a second signal › ends at once', async () => {
    await using service = await startService(['--database', 'sqlite::memory:'], { cwd });
    using connection = openConnection(service.port);
    await sendHalf(service, connection.socket);
    const began = performance.now();
    service.process.kill('SIGTERM');
    // Two signals that wait are one for the kernel.
    await until(() => service.output.stderr.includes('"stopping"'));
    // As npm sends it again: nothing more happens.
    service.process.kill('SIGTERM');
    await setTimeout(1_000);
    const { exitCode, signalCode } = service.process;
    assert.deepEqual({ exitCode, signalCode }, { exitCode: null, signalCode: null });
    service.process.kill('SIGINT');
    assert.deepEqual(await finish(service), { status: null, signal: 'SIGINT' });
    assert.ok(performance.now() - began < CUT_MS);
  });

  test('stop › nobody reads the log › ends all the same', async () => {
    await using service = await startService(['--database', 'sqlite::memory:'], { cwd });
    service.process.stderr?.pause();
    for (let round = 0; round < 60; round += 1) {
      await Promise.all(Array.from({ length: 50 }, () => fetch(`${service.url}/livez`)));
    }
    const began = performance.now();
    service.process.kill('SIGTERM');
    const [status, signal] = await once(service.process, 'exit');
    assert.ok(performance.now() - began < CUT_MS);
    // By itself it would wait for the write of its log.
    assert.deepEqual({ status, signal }, { status: null, signal: 'SIGKILL' });
    service.process.stderr?.resume();
  });
});
