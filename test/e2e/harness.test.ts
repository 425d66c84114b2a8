/** The test runner itself: whatever a test does, the run comes to its end and leaves no process. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../support/program.ts';
import { openConnection } from '../support/socket.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
const KILL_MS = 50_000;
const GONE_MS_MAX = 5_000;

/** Runs `test/main.ts` on a fixture; a test ends after so many seconds, the run a little later. */
async function runFixture(name: string, seconds: { test: number; run: number }) {
  // Otherwise it would take itself for a part of this run.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [MAIN, 'all', `test/support/fixtures/${name}.ts`], {
    env: {
      ...env,
      ...{ PETSTORE_PORT: '1', PETSTORE_NAME: 'x', PETSTORE_DATABASE: 'nonsense' },
      TEST_SECONDS_MAX: String(seconds.test),
      TEST_RUN_SECONDS_MAX: String(seconds.run),
      TEST_CLOSE_MS_MAX: '500',
    },
    timeout: KILL_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [status, signal] = await once(child, 'close');
  const pids = [...output.matchAll(/(\w+) has pid (\d+)/g)].map(([, what, pid]) => [what, pid]);
  return { status, signal, output, pids };
}

/** One that was killed needs a moment, and may stay as a zombie until its parent has looked. */
async function assertGone(pids: readonly (string | undefined)[][]): Promise<void> {
  for (const [what, pid] of pids) {
    const deadline = performance.now() + GONE_MS_MAX;
    while (isRunning(pid)) {
      assert.ok(performance.now() < deadline, `${what} is left`);
      await setTimeout(20);
    }
  }
}

function isRunning(pid: string | undefined): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test('harness › variables of the service › are not those of the tests', async () => {
  const { status, output } = await runFixture('variables', { test: 30, run: 40 });
  assert.equal(status, 0, output);
  assert.match(output, /^options: \[\]$/m);
});

test('runProgram › a command that does not end › is killed, and the error has what it wrote', async () => {
  const within = ['sh', '-c', 'echo half; exec sleep 1000', '--'];
  await assert.rejects(runProgram(['serve'], { cwd: tmpdir(), within, runMsMax: 500 }), {
    message: 'serve did not end within 500 ms; it wrote so far: half\n',
  });
});

test('readToEnd › a connection that is not closed › is ended, and the error has what came', async () => {
  await using server = createServer((socket) => socket.write('half')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  using connection = openConnection((server.address() as AddressInfo).port);
  await assert.rejects(connection.readToEnd(500), {
    message: 'the connection was not closed within 500 ms; received so far: half',
  });
});

describe('harness', {
  skip: !existsSync('/proc/self') && 'it looks for processes in /proc',
}, () => {
  test('harness › tests that never end and leave processes › fail, and leave none', async () => {
    const { status, signal, output, pids } = await runFixture('hanging', { test: 10, run: 40 });
    assert.deepEqual({ status, signal }, { status: 1, signal: null }, output);
    assert.deepEqual(pids.map(([what]) => what).sort(), ['program', 'service', 'stray'], output);
    assert.match(output, /says nothing after 300 ms/);
    assert.match(output, /test timed out after 10000ms/);
    assert.match(output, /hanging\.ts did not end after its last test: .*ProcessWrap/);
    await assertGone(pids);
  });

  test('harness › a file that never gives the event loop back › is ended with the run', async () => {
    const { status, signal, output, pids } = await runFixture('endless', { test: 1, run: 6 });
    assert.deepEqual({ status, signal }, { status: 137, signal: null }, output);
    assert.match(output, /The run took longer than 6 s and was ended\./);
    assert.equal(pids.length, 1, output);
    await assertGone(pids);
  });

  test('harness › a test that ends its process › fails, and its file is named', async () => {
    const { status, output } = await runFixture('exits', { test: 10, run: 40 });
    assert.equal(status, 1, output);
    assert.match(output, /exits\.ts ended before its last test/);
  });

  test('harness › a file that is not there › fails', async () => {
    const { status, output } = await runFixture('none', { test: 1, run: 20 });
    assert.equal(status, 1, output);
  });
});
