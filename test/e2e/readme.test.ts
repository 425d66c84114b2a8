/** The README's first steps are true. */

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { HAS_CURL } from '../support/curl.ts';
import { runProgram, startService } from '../support/program.ts';
import { assertReadme, readPrograms } from '../support/readme.ts';
import { createFolder } from '../support/temporary-folder.ts';

test('README › its requests in their order › are answered as it says', async (t) => {
  t.diagnostic(HAS_CURL ? 'sent by curl' : 'sent by Node, since there is no curl here');
  await using folder = await createFolder();
  const cwd = folder.path;
  await using service = await startService(['--log-level', 'warn'], { cwd });
  const { url, key, output } = service;
  const told = output.stdout
    .replaceAll(url, 'http://127.0.0.1:8080')
    .replaceAll(key, 'petstore_stag_…')
    .replace(cwd, '/home/you/petstore');
  const readme = await readFile(join(import.meta.dirname, '../../README.md'), 'utf8');
  assert.ok(readme.includes(`\n\`\`\`\n${told}\`\`\`\n`), told);
  assert.equal(await assertReadme(url, key), 4);
  const main = join(cwd, 'program.mjs');
  for (const { program, printed } of await readPrograms(service.url)) {
    await writeFile(main, program);
    const ran = await runProgram([], { cwd, main, env: { KEY: service.key } });
    assert.equal(ran.stdout, printed, ran.stderr);
  }
});
