/** Several processes on one port: they are one service, and one that ends is replaced. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { listChildren } from '../support/children.ts';
import { runCommand } from '../support/command.ts';
import { type RunningService, startProgram, startService } from '../support/program.ts';
import { send } from '../support/request.ts';
import { type Answer, getFreePort, openConnection } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const WORKERS = 2;
const NO_PROC = !existsSync('/proc') && 'the workers of a process are found in /proc';
const BODY = '{"name":"Rex","categoryId":1}';

const cwd = createProcessFolder();

const start = (database: string, ...args: readonly string[]) =>
  startService(['--database', database, '--workers', String(WORKERS), ...args], { cwd });

/** On a connection of its own, so that the next worker answers. */
function ask({ port }: RunningService, path: string, key = ''): Promise<Answer> {
  return send(port, { path, headers: { authorization: `Bearer ${key}`, connection: 'close' } });
}

/** The head of a create with that body. */
function toCreate(key: string, more = ''): string {
  return `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${BODY.length}\r\n${more}\r\n`;
}

/** Adds a pet and returns its id; a machine that is busy may answer 503 for a while. */
async function add({ port, key }: RunningService): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, connection: 'close' };
  const sent = { method: 'POST', path: '/v1/pets', headers, body: BODY };
  let added: Answer | undefined;
  await until(async () => {
    added = await send(port, sent);
    return added.status !== 503;
  });
  assert.equal(added?.status, 201);
  return JSON.parse(added.body).id;
}

/** The processes that logged an answer so far. */
function listPids({ output }: RunningService): number[] {
  const lines = output.stderr.split('\n').filter((line) => line.includes('"route"'));
  return [...new Set(lines.map((line) => Number(/"pid":(\d+)/.exec(line)?.[1])))];
}

/** The lines about workers that ended. */
function listReplaced({ output }: RunningService): string[] {
  return output.stderr.split('\n').filter((line) => line.includes('replaced'));
}

/** Asks until so many processes have answered, all of them ready; returns those. */
async function getWorkers(service: RunningService, count = WORKERS): Promise<number[]> {
  await until(async () => {
    assert.equal((await ask(service, '/readyz')).status, 200);
    return listPids(service).length >= count;
  });
  return listPids(service);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has just ended.
  }
}

describe('workers', { concurrency: 2 }, () => {
  test('workers › all the life of a service › is one service in many processes', async (t) => {
    const database = 'sqlite:all.db';
    await using service = await start(database);
    const { key } = service;
    const workers = await getWorkers(service);

    await t.test('what one adds › is in the next answer of any', async () => {
      for (let count = 0; count < 10; count += 1) {
        const id = await add(service);
        const answers = Array.from({ length: WORKERS }, () =>
          ask(service, '/v1/pets?limit=100', key),
        );
        for (const { body } of await Promise.all(answers)) {
          assert.equal(JSON.parse(body).at(-1).id, id);
        }
      }
    });

    await t.test('a key that is revoked › is refused by all within a second', async () => {
      const from = ['--database', database];
      const made = await runCommand(['keys', 'create', '--name', 'ci', ...from], { cwd });
      const other = made.stdout.trim();
      const askAll = async () => {
        const answers = Array.from({ length: 12 }, () => ask(service, '/v1/pets', other));
        return [...new Set((await Promise.all(answers)).map(({ status }) => status))];
      };
      assert.deepEqual(await askAll(), [200]);
      await runCommand(['keys', 'revoke', '2', ...from], { cwd });
      await setTimeout(1_000);
      assert.deepEqual(await askAll(), [401]);
    });

    await t.test(
      'a worker that is killed › is logged and replaced, while the others answer',
      async () => {
        // The second one is the replacement of the first.
        for (const round of [1, 2]) {
          const victim = (round === 1 ? workers[0] : listPids(service).at(-1)) ?? 0;
          process.kill(victim, 'SIGKILL');
          await until(() => !isRunning(victim));
          for (let count = 0; count < 10; count += 1) {
            assert.equal((await ask(service, '/readyz')).status, 200);
            await add(service);
          }
          assert.equal((await getWorkers(service, WORKERS + round)).length, WORKERS + round);
          const lines = listReplaced(service);
          assert.equal(lines.length, round);
          assert.match(lines.at(-1) ?? '', new RegExp(`"worker":${victim},.*"signal":"SIGKILL"`));
        }
      },
    );

    await t.test('SIGTERM › answers what was begun, and leaves no process', async () => {
      const begun = Array.from({ length: WORKERS }, () => openConnection(service.port));
      for (const { socket } of begun) socket.write(toCreate(key) + BODY.slice(0, 9));
      await setTimeout(300);
      service.process.kill('SIGTERM');
      await until(() => service.output.stderr.split('"stopping"').length === WORKERS + 2);
      await setTimeout(100);
      await assert.rejects(ask(service, '/livez'));
      for (const connection of begun) {
        connection.socket.write(BODY.slice(9));
        assert.match(await connection.readToEnd(), /^HTTP\/1\.1 201 /);
      }
      const { status, signal } = await service.finished;
      assert.deepEqual({ status, signal }, { status: 0, signal: null });
      assert.deepEqual(listPids(service).filter(isRunning), []);
      assert.equal(listReplaced(service).length, 2);
    });
  });

  test('workers › kill -9 of the first process › ends all, and the next start purges old keys', async () => {
    const database = 'sqlite:killed.db';
    await using first = await start(database);
    const workers = await getWorkers(first);
    first.process.kill('SIGKILL');
    await until(() => workers.every((pid) => !isRunning(pid)));
    using beside = new DatabaseSync(join(cwd, 'killed.db'));
    beside.exec("insert into idempotency_keys values (1, 'expired', 1, -1, null)");
    await using _second = await start(database);
    const kept = beside.prepare("select name from idempotency_keys where name = 'expired'");
    await until(() => kept.get() === undefined);
  });

  for (const [nth, count] of [
    ['first', 1],
    ['second', 2],
  ] as const) {
    for (const [who, isOfAll] of [
      ['the first process', false],
      ['all processes', true],
    ] as const) {
      test(`workers › SIGTERM to ${who} while the ${nth} worker starts › ends all in silence and exits with 0`, {
        skip: NO_PROC,
      }, async () => {
        const folder = createProcessFolder();
        const args = ['serve', '--port', '0', '--workers', '2', '--log-level', 'silent'];
        await using program = startProgram(args, { cwd: folder });
        const { pid } = program.process;
        let children: number[] = [];
        await until(async () => {
          children = await listChildren(pid);
          return children.length >= count;
        });
        if (isOfAll) {
          // The order of the signals is not that of the calls: this is the worst one.
          children.forEach(terminate);
          await until(() => !children.some(isRunning));
        }
        program.process.kill('SIGTERM');
        const { status, signal, stderr } = await program.finished;
        assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: '' });
        assert.deepEqual(children.filter(isRunning), []);
      });
    }
  }

  test('workers › SIGTERM to the second worker while it starts, then to the first process › answers what was begun, and exits with 0', {
    skip: NO_PROC,
  }, async () => {
    const from = ['--database', 'sqlite:begun.db'];
    const made = await runCommand(['keys', 'create', '--name', 'ci', ...from], { cwd });
    const port = await getFreePort();
    const args = ['serve', '--port', String(port), '--workers', '2', '--log-level', 'silent'];
    await using program = startProgram([...args, ...from], { cwd });
    let workers: readonly number[] = [];
    await until(async () => {
      workers = await listChildren(program.process.pid);
      return workers.length === 2;
    });
    const [first = 0, second = 0] = workers;
    const key = made.stdout.trim();
    using connection = openConnection(port);
    connection.socket.write(toCreate(key, 'Expect: 100-continue\r\n'));
    await once(connection.socket, 'data');
    terminate(second);
    await until(() => !isRunning(second));
    program.process.kill('SIGTERM');
    // A worker is replaced after a second, but not while the service stops.
    await setTimeout(1_300);
    assert.deepEqual(await listChildren(program.process.pid), [first]);
    connection.socket.write(BODY);
    assert.match(await connection.readToEnd(), /HTTP\/1\.1 201 /);
    const { status, signal, stderr } = await program.finished;
    assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: '' });
  });

  test('workers on any free port › all killed at once, then one that always fails › are replaced on the same port, once in a second', async () => {
    await using service = await start('sqlite:gone.db');
    for (const pid of await getWorkers(service)) process.kill(pid, 'SIGKILL');
    await until(async () => {
      const answer = await ask(service, '/readyz').catch(() => undefined);
      return answer?.status === 200;
    });
    const workers = await getWorkers(service, 2 * WORKERS);
    renameSync(join(cwd, 'gone.db'), join(cwd, 'moved.db'));
    mkdirSync(join(cwd, 'gone.db'));
    const replaced = listReplaced(service).length;
    terminate(workers.at(-1) ?? 0);
    await until(() => listReplaced(service).length > replaced + 2);
    const [first, , third] = listReplaced(service)
      .slice(replaced)
      .map((line) => Date.parse(JSON.parse(line).time));
    const ms = Number(third) - Number(first);
    assert.ok(ms > 1_900, `two were started within ${ms} ms`);
  });
});
