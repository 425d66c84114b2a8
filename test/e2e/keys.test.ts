/** Keys that the command line changes while the service runs in another process. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { runCommand } from '../support/command.ts';
import { type RunningService, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

/** Long enough for the first requests also on a busy machine. */
const SHORT_SECONDS = 5;

describe('keys of a running service', { concurrency: 3 }, () => {
  const cwd = createProcessFolder();
  let service: RunningService;
  before(async () => {
    service = await startService(['--log-level', 'silent'], { cwd });
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
  });

  /** Runs `keys …` and returns the id it speaks of and the key it printed. */
  async function runKeys(...args: readonly string[]): Promise<{ id: string; key: string }> {
    const { status, stdout, stderr } = await runCommand(['keys', ...args], { cwd });
    assert.equal(status, 0, stderr);
    return { id: /^Key (\d+)/.exec(stderr)?.[1] ?? '', key: stdout.trim() };
  }

  async function ask(key: string): Promise<number> {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${service.url}/v1/pets`, { headers })).status;
  }

  test('keys create › in another process › opens the running service', async () => {
    const { key } = await runKeys('create', '--name', 'ci');
    assert.equal(await ask(key), 200);
  });

  test('keys revoke › in another process › is refused within a second', async () => {
    const { id, key } = await runKeys('create', '--name', 'ci');
    assert.equal(await ask(key), 200);
    await runKeys('revoke', id);
    await setTimeout(1_000);
    assert.equal(await ask(key), 401);
  });

  test('keys create › with an expiry › is refused from then on', async () => {
    const { key } = await runKeys('create', '--name', 'ci', '--expires', `${SHORT_SECONDS}s`);
    assert.equal(await ask(key), 200);
    await setTimeout(SHORT_SECONDS * 1_000);
    assert.equal(await ask(key), 401);
  });

  test('keys rotate › with an overlap › lets the old key in for as long', async () => {
    const old = await runKeys('create', '--name', 'ci');
    const made = await runKeys('rotate', old.id, '--overlap', `${SHORT_SECONDS}s`);
    assert.deepEqual([await ask(old.key), await ask(made.key)], [200, 200]);
    await setTimeout(SHORT_SECONDS * 1_000);
    assert.deepEqual([await ask(old.key), await ask(made.key)], [401, 200]);
  });

  test('keys rotate › without an overlap › refuses the old key', async () => {
    const old = await runKeys('create', '--name', 'ci');
    const made = await runKeys('rotate', old.id, '--overlap', '0s');
    await setTimeout(1_000);
    assert.deepEqual([await ask(old.key), await ask(made.key)], [401, 200]);
  });

  test('keys list › after a request › shows when the key was used', async () => {
    const { id, key } = await runKeys('create', '--name', 'ci');
    assert.equal(await ask(key), 200);
    // It is written after the answer.
    await until(async () => {
      const { stdout } = await runCommand(['keys', 'list', '--json'], { cwd });
      const keys: { id: number; lastUsed: string | null }[] = JSON.parse(stdout);
      const lastUsed = keys.find((row) => row.id === Number(id))?.lastUsed ?? '';
      return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(lastUsed);
    });
  });
});
