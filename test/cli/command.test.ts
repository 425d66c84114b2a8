/** Commands in a host, as the tests here run them: they print and leave what a process of their own would. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../support/command.ts';
import { runProgram } from '../support/program.ts';
import { createFolder } from '../support/temporary-folder.ts';

for (const [args, env] of [
  [['pets', 'generate', '--count', '3']],
  [['keys', '--help']],
  [['keys', 'list']],
  [['keys', 'list'], { PETSTORE_ENV_FILE: 'none.env' }],
  [['keys', 'list'], { PETSTORE_NAMES: 'ci' }],
  [['adopt']],
] as const) {
  test(`runCommand › ${args.join(' ')} ${Object.keys(env ?? {})} › is as by runProgram`, async () => {
    await using folder = await createFolder();
    const options = { cwd: folder.path, env: env ?? {} };
    assert.deepEqual(await runCommand(args, options), await runProgram(args, options));
  });
}

test('runCommand › variables of the command before, and of its file › are gone', async () => {
  await using folder = await createFolder();
  const cwd = folder.path;
  await writeFile(join(cwd, 'all.env'), 'PETSTORE_NAME=ci\n');
  const env = { PETSTORE_ENV_FILE: 'all.env', PETSTORE_ENVIRONMENT: 'production' };
  const made = await runCommand(['keys', 'create'], { cwd, env });
  assert.match(made.stderr, /^Key 1 \(ci\) for production,/);
  const refused = await runCommand(['keys', 'create'], { cwd });
  assert.match(refused.stderr, /^petstore: required option '--name <name>' not specified\n$/);
  const next = await runCommand(['keys', 'create', '--name', 'x'], { cwd });
  assert.match(next.stderr, /^Key 2 \(x\) for staging,/);
});
