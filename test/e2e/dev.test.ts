/** `npm run dev`, in a copy of the checkout whose files may change. */

import assert from 'node:assert/strict';
import { appendFile, cp, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { startProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');

test('npm run dev › a pet, a changed file, a pet › both are added, by two processes', async () => {
  const cwd = createProcessFolder();
  for (const name of ['src', 'client', 'docs', 'runtime', 'package.json']) {
    await cp(join(ROOT, name), join(cwd, name), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(cwd, 'node_modules'));
  const [, main = '', ...args] = manifest.scripts.dev.split(' ');
  const { output, process, finished } = startProgram(args, {
    ...{ cwd, main, env: { PETSTORE_PORT: '0' } },
  });
  try {
    const ids: number[] = [];
    for (const starts of [1, 2]) {
      const findStarts = () => [...output.stderr.matchAll(/listens on (http:[^\s"]+)/g)];
      const hasFailed = () => output.stdout.includes('Failed running');
      await until(() => findStarts().length >= starts || hasFailed());
      const [key = ''] = /petstore_stag_\w+/.exec(output.stdout) ?? [];
      const add = async () => {
        const answer = await fetch(`${findStarts().at(-1)?.[1]}/v1/pets`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: '{"name": "Mia", "categoryId": 1}',
        });
        ids.push(((await answer.json()) as { id: number }).id);
      };
      // One change may restart the service twice: no service listens meanwhile.
      await until(() => add().then(() => true, hasFailed));
      await appendFile(join(cwd, 'src/http/app.ts'), '// changed\n');
    }
    assert.deepEqual(ids, [1, 2], output.stderr);
  } finally {
    // It ends the service that it started, which SIGKILL would leave.
    process.kill('SIGTERM');
    await finished;
  }
});
