/** What the service logs, what it never logs, and that it outlives the readers of its log. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { readMetrics, sum } from '../support/metrics.ts';
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

  const skip = !HAS_TERMINAL && 'no `script` of Linux gives a terminal here';
  test('log › a start on a terminal › is for a person', { skip }, async () => {
    // A CI, and a run of tests, may have a variable that changes the colours.
    const command = 'unset CI FORCE_COLOR; exec script --quiet --return --command "$*" /dev/null';
    const within = ['sh', '-c', command, 'sh'];
    const env = { TERM: 'xterm-256color', NO_COLOR: '' };
    await using service = await startService(inMemory, { cwd, within, env });
    const { output, url, key } = service;
    assert.match(
      output.stdout,
      /^petstore \d\S+ listens on http:\S+\r\n.*\r\nThe first key, .*\r\n {2}curl .*\r\n/s,
    );
    const headers = { authorization: `Bearer ${key}` };
    assert.equal((await fetch(`${url}/v1/pets?_=${key}`, { headers })).status, 200);
    const line = / GET \/v1\/pets <32m200<39m \d+\.\d ms key 1\r\n$/;
    await until(() => line.test(output.stdout.replaceAll('\x1b[', '<')));
  });

  test('log › its readers gone, one before the start is printed › the service goes on and stops in order', async () => {
    const within = ['bash', '-c', 'exec "$0" "$@" > >(true)'];
    await using service = await startService([...inMemory, '--admin-port', '0'], { cwd, within });
    service.process.stderr?.destroy();
    const ask = async () => assert.equal((await fetch(`${service.url}/livez`)).status, 200);
    // More than is buffered before it is written.
    for (let count = 0; count < 300; count += 1) await ask();
    const dropped = 'petstore_log_dropped_lines_total';
    await until(async () => sum(await readMetrics(service), dropped) >= 300);
    await ask();
    service.process.kill('SIGTERM');
    const { status, signal } = await service.finished;
    assert.deepEqual({ status, signal }, { status: 0, signal: null });
  });
});
