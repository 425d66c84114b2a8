/** How the program stops: its requests, its connections, and its exit status. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { createEmptyDatabase, holdInSession } from '../support/empty-database.ts';
import { getAdmin, readMetrics, sum } from '../support/metrics.ts';
import { NO_SESSIONS } from '../support/postgres.ts';
import { importing, type RunningService, startProgram, startService } from '../support/program.ts';
import { openConnection, untilRefused } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';

const BODY = '{"name":"Rex","categoryId":1}';
const GET = 'GET /livez HTTP/1.1\r\nHost: petstore.test\r\n\r\n';
/**
 * The times of a service are no times here, since a machine may be busy: what is left after 10 s is not cut, and
 * signals count as one until SIGWINCH comes, not for a second.
 */
const env = importing(`
  const set = globalThis.setTimeout;
  globalThis.setTimeout = (run, ms, ...rest) => {
    if (ms === 1_000) process.on('SIGWINCH', () => console.error('later', run()));
    return set(run, ms === 10_000 || ms === 1_000 ? 1_000_000 : ms, ...rest);
  };
`);
const IN_MEMORY = ['--database', 'sqlite::memory:'];
/** More than there may be open files before Node raises the soft limit to the hard limit. */
const CONNECTIONS = 400;
const FEW_FILES = ['bash', '-c', 'ulimit -Sn 256; exec "$0" "$@"'];
/** Standard output of this program has no reader from the beginning. */
const UNREAD = ['bash', '-c', 'exec "$0" "$@" > >(true)'];

const cwd = createProcessFolder();

/** Sends half of a body, once the service has begun the request and waits for it. */
async function sendHalf({ key }: RunningService, socket: Socket): Promise<void> {
  socket.write(
    `POST /v1/pets HTTP/1.1\r\nHost: petstore.test\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${BODY.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  const [answer] = await once(socket, 'data');
  assert.equal(String(answer), 'HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(BODY.slice(0, 9));
}

async function finish(service: RunningService): Promise<unknown> {
  const { status, signal } = await within(service.finished);
  return { status, signal };
}

describe('stop', { concurrency: 3 }, () => {
  test('stop › SIGTERM with a body on its way, more idle connections than files before, and silent ones › closes these, takes no new one, answers the body, closes the file and exits with 0', async () => {
    const cwd = createProcessFolder();
    const args = ['--log-level', 'silent', '--admin-port', '0'];
    await using service = await startService(args, { cwd, env, within: FEW_FILES });
    const idle = Array.from({ length: CONNECTIONS }, () => openConnection(service.port));
    for (const { socket } of idle) socket.write(GET);
    await Promise.all(idle.map(({ socket }) => once(socket, 'data')));
    assert.equal((await fetch(`${getAdmin(service)}/readyz`)).status, 200);
    using silent = openConnection(service.port);
    // This one does not answer the end of the service by its own.
    using halfOpen = openConnection(service.port, { allowHalfOpen: true });
    await Promise.all([once(silent.socket, 'connect'), once(halfOpen.socket, 'connect')]);
    // From here on, its body may take 30 s.
    using connection = openConnection(service.port);
    await sendHalf(service, connection.socket);
    const open = CONNECTIONS + 3;
    await until(async () => sum(await readMetrics(service), 'petstore_http_connections') === open);
    service.process.kill('SIGTERM');
    await untilRefused(service.port);
    assert.equal(await silent.readToEnd(), '');
    for (const each of idle) assert.match(await each.readToEnd(), /^HTTP\/1\.1 200 OK\r\n/);
    assert.equal(service.process.exitCode, null);
    assert.equal(service.process.signalCode, null);
    assert.equal((await fetch(`${getAdmin(service)}/readyz`)).status, 503);
    assert.equal(sum(await readMetrics(service), 'petstore_ready'), 0);
    connection.socket.write(BODY.slice(9));
    const answer = await connection.readToEnd();
    assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/);
    assert.match(answer, /\r\nconnection: close\r\n/i);
    assert.deepEqual(await finish(service), { status: 0, signal: null });
    assert.equal(service.output.stderr, '');
    assert.deepEqual(readdirSync(cwd), ['petstore.db']);
  });

  for (const later of ['SIGINT', 'SIGTERM'] as const) {
    test(`stop › a later ${later} › ends at once`, async () => {
      await using service = await startService(IN_MEMORY, { cwd, env });
      using connection = openConnection(service.port);
      await sendHalf(service, connection.socket);
      const hasEnded = () => service.process.signalCode !== null;
      const untilTold = (text: string) =>
        until(() => service.output.stderr.includes(text) || hasEnded());
      service.process.kill('SIGINT');
      await untilTold('"stopping"');
      // As npm sends it again: nothing more happens. Of two that wait, the kernel passes SIGWINCH on last.
      for (const signal of ['SIGTERM', 'SIGWINCH'] as const) service.process.kill(signal);
      await untilTold('later');
      assert.equal(hasEnded(), false);
      service.process.kill(later);
      assert.deepEqual(await finish(service), { status: null, signal: later });
    });
  }

  for (const [what, isMade] of [
    ['is made › prints the key, and no address where nothing listens', true],
    ['is made, which fails › ends without a word of it', false],
  ] as const) {
    test(`stop › SIGTERM while the first key ${what}`, { skip: NO_SESSIONS }, async () => {
      await using database = await createEmptyDatabase();
      await database.open();
      await using held = await holdInSession(database, 'lock table api_keys in exclusive mode');
      const patient = ['--database-timeout', '60'];
      const args = ['serve', '--port', '0', '--database', database.address, ...patient];
      await using program = startProgram(args, { cwd });
      const waiting = `from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`;
      await until(async () => (await database.query(`select ${waiting}`)).length === 1);
      program.process.kill('SIGTERM');
      await until(() => program.output.stderr.includes('"stopping"'));
      if (isMade) await held.end('commit');
      else await database.query(`select pg_cancel_backend(pid) ${waiting}`);
      const { status, stdout, stderr } = await within(program.finished);
      const shown = /^\nThe first key, which is shown only now:\n {2}petstore_stag_\w+\n$/;
      assert.match(stdout, isMade ? shown : /^$/, `${status}: ${stdout}${stderr}`);
      assert.match(stderr, /^.*"stopping"\}\n$/);
      assert.equal(status, 0);
    });
  }

  test('stop › the readers of its output gone, one before the start is printed › goes on until it is stopped, and exits with 0', async () => {
    const args = [...IN_MEMORY, '--admin-port', '0'];
    await using service = await startService(args, { cwd, within: UNREAD });
    service.process.stderr?.destroy();
    const ask = async () => assert.equal((await fetch(`${service.url}/livez`)).status, 200);
    // More than is buffered before it is written.
    for (let count = 0; count < 300; count += 1) await ask();
    const dropped = 'petstore_log_dropped_lines_total';
    await until(async () => sum(await readMetrics(service), dropped) >= 300);
    await ask();
    service.process.kill('SIGTERM');
    assert.deepEqual(await finish(service), { status: 0, signal: null });
  });

  test('stop › nobody reads the log › ends all the same', async () => {
    await using service = await startService(IN_MEMORY, { cwd, env });
    service.process.stderr?.pause();
    const clients = Array.from({ length: 50 }, () => openConnection(service.port));
    for (let round = 0; round < 30; round += 1) {
      for (const { socket } of clients) socket.write(GET);
      await Promise.all(clients.map(({ socket }) => once(socket, 'data')));
    }
    service.process.kill('SIGTERM');
    const [status, signal] = await once(service.process, 'exit');
    // By itself it would wait for the write of its log.
    assert.deepEqual({ status, signal }, { status: null, signal: 'SIGKILL' });
    service.process.stderr?.resume();
  });
});
