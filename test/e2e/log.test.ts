/** What the service logs, what it never logs, and that it outlives the readers of its log. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

/** Whether the `script` of util-linux can make a terminal, which a minimal system may not let it. */
const HAS_TERMINAL =
  process.platform === 'linux' &&
  spawnSync('script', ['--quiet', '--return', '--command', 'true', '/dev/null']).status === 0;

describe('log', { concurrency: 2 }, () => {
  const cwd = createProcessFolder();

  const inMemory = ['--database', 'sqlite::memory:'];

  async function ask(url: string, key: string): Promise<number> {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${url}/v1/pets?_=${key}`, { headers })).status;
  }

  test('log › a start with --log-level warn › is text on standard output', async () => {
    await using service = await startService([...inMemory, '--log-level', 'warn'], { cwd });
    assert.match(
      service.output.stdout,
      /^petstore \d\S+ listens on http:\S+\n {2}api {10}http:.*\n\nThe first key, /s,
    );
    assert.equal(service.output.stderr, '');
  });

  const skip = !HAS_TERMINAL && 'no `script` of Linux gives a terminal here';
  /** A CI, and a run of tests, may have a variable that changes the colours. */
  const onTerminal = (rest = '') => {
    const command = `unset CI FORCE_COLOR; exec script --quiet --return --command "$*${rest}" /dev/null`;
    return ['sh', '-c', command, 'sh'];
  };

  for (const [what, rest, env, status] of [
    ['a terminal', '', { NO_COLOR: '' }, String.raw`\x1b\[32m200\x1b\[39m`],
    ['a pipe, and the log on a terminal', ' | cat', { NO_COLOR: '1' }, '200'],
    ['a terminal, and the log in a file', ' 2>error.log', {}, undefined],
  ] as const) {
    test(`log › a start whose standard output is ${what} › is for a person`, { skip }, async () => {
      const options = { cwd, within: onTerminal(rest), env: { TERM: 'xterm-256color', ...env } };
      await using service = await startService(inMemory, options);
      const { output } = service;
      const start =
        /^petstore \d\S+ listens on http:\S+\r\n.*\r\nThe first key, .*\r\n {2}curl .*\r\n/s;
      assert.match(output.stdout, start);
      assert.equal(await ask(service.url, service.key), 200);
      const line = `\\d\\d:\\d\\d:\\d\\d GET /v1/pets ${status} \\d+\\.\\d ms key 1\\r\\n$`;
      if (status) await until(() => new RegExp(line).test(output.stdout));
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
    const within = ['bash', '-c', 'exec "$0" "$@" > >(true)'];
    await using service = await startService(inMemory, { cwd, within });
    service.process.kill('SIGTERM');
    assert.equal((await service.finished).status, 0);
  });
});
