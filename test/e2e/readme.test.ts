/** The README's first steps are true. */

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { HAS_CURL } from '../support/curl.ts';
import { readFacts, runProgram, startService } from '../support/program.ts';
import { assertReadme, readProductionScript, readPrograms } from '../support/readme.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

test('README › its requests in their order › are answered as it says', async (t) => {
  t.diagnostic(HAS_CURL ? 'sent by curl' : 'sent by Node, since there is no curl here');
  const folder = createProcessFolder();
  const cwd = folder;
  await using service = await startService(['--log-level', 'warn', '--rehearse'], { cwd });
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

test('README › its lines for production › serve other machines, with the key that they make', async () => {
  const folder = createProcessFolder();
  // `npm run` and `npm start` would take the folder of the checkout.
  const script = (await readProductionScript())
    .replace('npm run -s petstore --', '"$0" "$1"')
    .replace('npm start --', 'exec "$0" "$@"');
  const within = ['sh', '-ec', script];
  await using service = await startService([], { cwd: folder, within });
  const [key = ''] = /^petstore_prod_\w+$/m.exec(service.output.stdout) ?? [];
  const facts = readFacts(service);
  assert.match(facts.msg ?? '', / listens on http:\/\/0\.0\.0\.0:\d+$/);
  assert.equal(facts.environment, 'production');
  const client = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${service.port}/v1/pets`;
  for (const name of ['Rex', 'Mia']) {
    const body = JSON.stringify({ name, categoryId: 3 });
    const { status, headers } = await fetch(url, { method: 'POST', headers: client, body });
    assert.equal(status, 201);
    assert.match(headers.get('location') ?? '', /^https:\/\/petstore\.example\/v1\/pets\/\d$/);
  }
});
