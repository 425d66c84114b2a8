/** Several processes on one port: they are one service, and one that ends is replaced. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { LAYOUT } from '../../src/storage/migrations.ts';
import { listChildren } from '../support/children.ts';
import { runCommand } from '../support/command.ts';
import { readMetrics, sum } from '../support/metrics.ts';
import { createOlderStore, OLDER_LAYOUT } from '../support/older-store.ts';
import {
  assertRefused,
  importing,
  type RunningService,
  readStart,
  runProgram,
  startProgram,
  startService,
} from '../support/program.ts';
import { send } from '../support/request.ts';
import { type Answer, getFreePort, openConnection, untilRefused } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const WORKERS = 2;
const NO_PROC = !existsSync('/proc') && 'the workers of a process are found in /proc';
const BODY = '{"name":"Rex","categoryId":1}';

/** The pause before a worker is replaced says when it begins. It ends when SIGWINCH comes, and says so. */
const PAUSED = importing(`
  import { once } from 'node:events';
  import { syncBuiltinESMExports } from 'node:module';
  import timers from 'node:timers/promises';
  const wait = timers.setTimeout;
  timers.setTimeout = async (ms, ...rest) => {
    if (ms !== 1_000) return wait(ms, ...rest);
    const heard = once(process, 'SIGWINCH');
    console.log('paused');
    await heard;
    setImmediate(() => console.log('resumed'));
  };
  syncBuiltinESMExports();
`);

/** A worker waits in its start, where a signal ends it with 0. */
const HEARS = importing(`
  import cluster from 'node:cluster';
  if (cluster.isWorker) {
    process.once('SIGTERM', () => process.exit());
    console.log('hears');
    await new Promise((resolve) => setTimeout(resolve, 1_000_000));
  }
`);

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

/** The workers that logged an answer so far: the first process logs those of the admin listener. */
function listPids({ output, process: first }: RunningService): number[] {
  const lines = output.stderr.split('\n').filter((line) => line.includes('"route"'));
  const pids = lines.map((line) => Number(/"pid":(\d+)/.exec(line)?.[1]));
  return [...new Set(pids)].filter((pid) => pid !== first.pid);
}

/** The lines about workers that ended. */
function listReplaced({ output }: RunningService): string[] {
  return output.stderr.split('\n').filter((line) => line.includes('is replaced'));
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

/** All counts of the service. */
function toSums(metrics: string): ReadonlyMap<string, number> {
  const ofCount = /^(?:petstore_\w+_(?:total|count|sum|bucket)|process_start_time_seconds)\b/;
  const lines = metrics.split('\n').filter((line) => ofCount.test(line));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end))];
    }),
  );
}

const readSums = async (service: RunningService) => toSums(await readMetrics(service));

function assertNotLess(
  sums: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number>,
): void {
  assert.ok(before.size > 0);
  const less = [...before].filter(([name, value]) => !(Number(sums.get(name)) >= value));
  assert.deepEqual(less, []);
}

describe('workers', { concurrency: 2 }, () => {
  test('workers › all the life of a service › is one service in many processes', async (t) => {
    const file = join(cwd, 'all.db');
    const database = `sqlite:${file}`;
    await using service = await start(database, '--admin-port', '0');
    const { key } = service;

    await t.test('requests of each kind › are counted over all processes', async () => {
      for (let count = 0; count < 8; count += 1) {
        await ask(service, '/v1/pets', key);
        await add(service);
      }
      const metrics = await readMetrics(service);
      const requests = 'petstore_http_request_duration_seconds_count';
      const list = ['method="GET"', 'route="/v1/pets"', 'status="200"'];
      assert.equal(sum(metrics, requests, ...list), 8);
      assert.equal(sum(metrics, requests, 'status="201"'), 8);
      assert.equal(sum(metrics, 'petstore_key_requests_total', 'key_id="1"'), 16);
      // The first key is a write too, and the time of last use.
      const writes = sum(metrics, 'petstore_committed_writes_total');
      assert.ok(writes >= 9 && writes <= 12, `${writes} writes`);
      assert.match(metrics, /^process_cpu_seconds_total /m);
      assert.equal(sum(metrics, 'petstore_ready'), 1);
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
      'one is stopped for a while › no sum, and not the newest start, falls',
      async () => {
        for (const stopped of await getWorkers(service)) {
          const before = await readSums(service);
          process.kill(stopped, 'SIGSTOP');
          const metrics = await readMetrics(service);
          process.kill(stopped, 'SIGCONT');
          assert.equal(sum(metrics, 'petstore_workers_answering'), WORKERS - 1);
          assertNotLess(toSums(metrics), before);
          await until(async () => {
            assertNotLess(await readSums(service), before);
            return sum(await readMetrics(service), 'petstore_workers_answering') === WORKERS;
          });
        }
      },
    );

    await t.test('one is killed › is logged and replaced, while the other answers', async () => {
      const [victim = 0] = await getWorkers(service);
      const before = await readMetrics(service);
      process.kill(victim, 'SIGKILL');
      await until(() => !isRunning(victim));
      for (let count = 0; count < 10; count += 1) {
        assert.equal((await ask(service, '/readyz')).status, 200);
        await add(service);
      }
      await getWorkers(service, WORKERS + 1);
      const [line = '', ...others] = listReplaced(service);
      assert.match(line, new RegExp(`"worker":${victim},.*"signal":"SIGKILL"`));
      assert.deepEqual(others, []);
      const after = await readMetrics(service);
      assertNotLess(toSums(after), toSums(before));
      const started = 'process_start_time_seconds';
      assert.ok(sum(after, started) > sum(before, started), 'no start is newer');
    });

    await t.test(
      'the file is away › is not ready, and one that always fails is replaced once in a second',
      async () => {
        const ends = ['', '-wal'];
        for (const end of ends) renameSync(file + end, `${file}.away${end}`);
        await until(async () => (await ask(service, '/readyz')).status === 503);
        await until(async () => sum(await readMetrics(service), 'petstore_ready') === 0);
        const replaced = listReplaced(service).length;
        terminate(listPids(service).at(-1) ?? 0);
        await until(() => existsSync(file) || listReplaced(service).length > replaced + 1);
        assert.ok(!existsSync(file), 'a worker made a new store');
        const [first, second] = listReplaced(service)
          .slice(replaced)
          .map((line) => Date.parse(JSON.parse(line).time));
        const ms = Number(second) - Number(first);
        assert.ok(ms > 950, `one was started within ${ms} ms`);
        for (const end of ends) renameSync(`${file}.away${end}`, file + end);
        await until(async () => {
          const answer = await ask(service, '/readyz').catch(() => undefined);
          return answer?.status === 200;
        });
        await getWorkers(service, WORKERS + 2);
      },
    );

    await t.test('SIGTERM › answers what was begun, and leaves no process', async () => {
      const begun = Array.from({ length: WORKERS }, () => openConnection(service.port));
      for (const { socket } of begun) {
        socket.write(toCreate(key, 'Expect: 100-continue\r\n'));
        await once(socket, 'data');
      }
      const countStopping = () => service.output.stderr.split('"stopping"').length;
      const before = { stopping: countStopping(), replaced: listReplaced(service) };
      service.process.kill('SIGTERM');
      await until(() => countStopping() === before.stopping + WORKERS + 1);
      await untilRefused(service.port);
      for (const connection of begun) {
        connection.socket.write(BODY);
        assert.match(await connection.readToEnd(), /\nHTTP\/1\.1 201 /);
      }
      // Its output ends with its last process: an id may be that of another process by now.
      const { status, signal } = await service.finished;
      assert.deepEqual({ status, signal }, { status: 0, signal: null });
      assert.deepEqual(listReplaced(service), before.replaced);
    });
  });

  test('workers › a start on an older store with keys of both environments › does and says once what is for all, and ends with its first process', async () => {
    const file = join(cwd, 'older.db');
    await createOlderStore(`sqlite:${file}`);
    using beside = new DatabaseSync(file);
    beside.exec(`
      insert into api_keys (id, digest, name, environment, created_at)
        values (2, x'01', 'b', 'production', 1);
      insert into idempotency_keys (api_key_id, name, created_at, pet_id) values (1, 'expired', 1, -1);
    `);
    await using service = await start(`sqlite:${file}`, '--seed', '5', '--');
    for (const said of [
      `migrated the store from layout ${OLDER_LAYOUT} to ${LAYOUT}`,
      'the store has keys of both environments: petstore copy --environment staging makes a store without the other keys',
      'no sample pets are added: the store has pets, or had some',
    ]) {
      assert.equal(readStart(service).split(said).length, 2, said);
    }
    const kept = beside.prepare("select name from idempotency_keys where name = 'expired'");
    await until(() => kept.get() === undefined);
    await getWorkers(service);
    service.process.kill('SIGKILL');
    await service.finished;
  });

  for (const [who, isOfAll, env, said] of [
    ['the first process', false, {}, ''],
    ['all processes', true, {}, ''],
    ['all processes, which hear it', true, HEARS, 'hears'],
  ] as const) {
    test(`workers › SIGTERM to ${who} while the first worker starts › ends all in silence and exits with 0`, {
      skip: NO_PROC,
    }, async () => {
      const folder = createProcessFolder();
      const args = ['serve', '--port', '0', '--workers', '2', '--log-level', 'silent'];
      await using program = startProgram(args, { cwd: folder, env });
      const { pid } = program.process;
      let children: number[] = [];
      await until(async () => {
        children = await listChildren(pid);
        return children.length > 0 && program.output.stdout.includes(said);
      });
      if (isOfAll) {
        // The order of the signals is not that of the calls: this is the worst one.
        children.forEach(terminate);
        await until(() => !children.some(isRunning));
      }
      program.process.kill('SIGTERM');
      const { status, signal, stderr } = await program.finished;
      assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: '' });
    });
  }

  for (const [what, change, line] of [
    [
      'cannot open the store',
      "process.env.PETSTORE_DATABASE = 'sqlite:none/petstore.db'",
      'there is no database none/petstore.db',
    ],
    ['gets a wrong option', "process.argv.push('--none')", "unknown option '--none'"],
  ] as const) {
    test(`workers › the first worker ${what} › ends with 1, and one line for all`, async () => {
      const env = importing(`
        import cluster from 'node:cluster';
        if (cluster.isWorker) ${change};
      `);
      const args = 'serve --port 0 --workers 2 --log-level silent'.split(' ');
      assertRefused(await runProgram(args, { cwd: createProcessFolder(), env }), 1, line);
    });
  }

  test('workers › SIGTERM to the second worker while it starts, then to the first process › answers what was begun, and exits with 0', {
    skip: NO_PROC,
  }, async () => {
    const from = ['--database', 'sqlite:begun.db'];
    const made = await runCommand(['keys', 'create', '--name', 'ci', ...from], { cwd });
    const port = await getFreePort();
    const args = ['serve', '--port', String(port), '--workers', '2', '--log-level', 'silent'];
    await using program = startProgram([...args, ...from], { cwd, env: PAUSED });
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
    await until(() => program.output.stdout.includes('paused'));
    program.process.kill('SIGTERM');
    // Two signals that wait may go to two threads, and come in any order.
    await untilRefused(port);
    program.process.kill('SIGWINCH');
    await until(() => program.output.stdout.includes('resumed'));
    assert.deepEqual(await listChildren(program.process.pid), [first]);
    connection.socket.write(BODY);
    assert.match(await connection.readToEnd(), /HTTP\/1\.1 201 /);
    const { status, signal, stderr } = await program.finished;
    assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: '' });
  });
});
