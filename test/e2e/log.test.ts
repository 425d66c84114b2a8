/** What the service logs, what it never logs, and that it outlives the readers of its log. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { runProgram, startProgram, startService } from '../support/program.ts';
import { getFreePort } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

async function isLive(url: string): Promise<boolean> {
  return fetch(`${url}/livez`).then(
    () => true,
    () => false,
  );
}

/** Whether the `script` of util-linux can make a terminal, which a minimal system may not let it. */
const HAS_TERMINAL =
  process.platform === 'linux' &&
  spawnSync('script', ['--quiet', '--return', '--command', 'true', '/dev/null']).status === 0;

describe('log', { concurrency: 2 }, () => {
  const cwd = createProcessFolder();

  const inMemory = ['--database', 'sqlite::memory:'];

  async function ask(url: string, key: string): Promise<number> {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${url}/v1/pets?key=${key}`, { headers })).status;
  }

  for (const [environment, start, printed] of [
    [
      'staging',
      [/^petstore \d\S+ listens on http:/, /^metrics at http:/],
      /^The first key, .*\n {2}curl .*\n$/,
    ],
    [
      'production',
      [/^petstore /, /^metrics at/, /^No production key .*:\n {2}.* keys create/],
      /^$/,
    ],
  ] as const) {
    test(`log › a start in ${environment} whose output programs read › is JSON lines, but for the key`, async () => {
      const args = [...inMemory, '--admin-port', '0', '--environment', environment];
      await using service = await startService(args, { cwd });
      const { stdout, stderr } = service.output;
      const lines = stderr
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.deepEqual(
        lines.map(({ level, msg }, index) => [level, start[index]?.test(msg)]),
        start.map(() => ['info', true]),
      );
      assert.match(stdout, printed);
    });
  }

  test('log › a start with --log-level warn › is text on standard output', async () => {
    await using service = await startService([...inMemory, '--log-level', 'warn'], { cwd });
    assert.match(service.output.stdout, /^petstore \d\S+ listens on .*\nThe first key, /);
    assert.equal(service.output.stderr, '');
  });

  test('log › requests › are JSON lines on standard error without a key', async () => {
    await using service = await startService(inMemory, { cwd });
    const { key, url } = service;
    assert.equal(await ask(url, key), 200);
    assert.equal(await ask(url, `${key}x`), 401);
    assert.equal((await fetch(`${url}/${key}`)).status, 404);
    service.process.kill('SIGTERM');
    const { status, stdout, stderr } = await service.finished;
    assert.equal(status, 0);
    const lines = stderr.trimEnd().split('\n');
    const requests = lines.map((line) => JSON.parse(line)).filter((line) => 'status' in line);
    assert.deepEqual(
      requests.map(({ method, route, status, keyId }) => [method, route, status, keyId]),
      [
        ['GET', '/v1/pets', 200, 1],
        ['GET', '/v1/pets', 401, null],
        ['GET', undefined, 404, null],
      ],
    );
    assert.ok(!stderr.includes(key.slice(0, 30)));
    assert.equal(stdout.split(key).length, 2);
  });

  const skip = !HAS_TERMINAL && 'no `script` of Linux gives a terminal here';
  /** Node gives a terminal of a CI fewer colours. */
  const onTerminal = (rest = '') => {
    const command = `unset CI; exec script --quiet --return --command "$*${rest}" /dev/null`;
    return ['sh', '-c', command, 'sh'];
  };

  for (const [what, rest] of [
    ['a terminal', ''],
    ['a pipe, and the log on a terminal', ' | cat'],
    ['a terminal, and the log in a file', ' 2>error.log'],
  ] as const) {
    test(`log › a start whose standard output is ${what} › is for a person`, { skip }, async () => {
      await using service = await startService(inMemory, { cwd, within: onTerminal(rest) });
      assert.match(
        service.output.stdout,
        /^petstore \d\S+ listens on .*\r\nThe first key, .*\r\n {2}curl .*\r\n$/,
      );
    });
  }

  for (const [env, colour] of [
    [{ NO_COLOR: '', FORCE_COLOR: '', TERM: 'xterm-256color' }, String.raw`\x1b\[32m200\x1b\[39m`],
    [{ NO_COLOR: '1', FORCE_COLOR: '', TERM: 'xterm-256color' }, '200'],
  ] as const) {
    test(`log › a terminal, NO_COLOR ${env.NO_COLOR === '' ? 'not set' : 'set'} › is for a person`, {
      skip,
    }, async () => {
      const { FORCE_COLOR: _, ...variables } = env;
      const within = onTerminal();
      await using service = await startService(inMemory, { cwd, within, env: variables });
      assert.equal(await ask(service.url, service.key), 200);
      const line = new RegExp(
        `\\d\\d:\\d\\d:\\d\\d GET /v1/pets ${colour} \\d+\\.\\d ms key 1\\r\\n`,
      );
      await until(() => line.test(service.output.stdout));
    });
  }

  test('log › its readers gone › the service goes on and stops in order', async () => {
    await using service = await startService(inMemory, { cwd });
    service.process.stdout?.destroy();
    service.process.stderr?.destroy();
    // More than is buffered before it is written.
    for (let count = 0; count < 300; count += 1) {
      assert.equal(await ask(service.url, service.key), 200);
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(await ask(service.url, service.key), 200);
    service.process.kill('SIGTERM');
    const { status, signal } = await service.finished;
    assert.deepEqual({ status, signal }, { status: 0, signal: null });
  });

  test('serve › its standard output closed before it prints › serves', async () => {
    const args = ['keys', 'create', '--name', 'ci', '--database', 'sqlite:closed.db'];
    const key = (await runProgram(args, { cwd })).stdout.trim();
    // What the service prints of its own cannot be read here.
    const port = String(await getFreePort());
    await using program = startProgram(
      ['serve', '--port', port, '--database', 'sqlite:closed.db'],
      {
        cwd,
      },
    );
    program.process.stdout?.destroy();
    const url = `http://127.0.0.1:${port}`;
    while (program.process.exitCode === null && !(await isLive(url))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(await ask(url, key), 200);
    program.process.kill('SIGTERM');
    const { status, stderr } = await program.finished;
    assert.equal(status, 0, stderr);
  });
});
