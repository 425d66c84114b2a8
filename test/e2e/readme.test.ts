/** The README's first steps are true. */

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertReadme } from '../support/curl.ts';
import { readFacts, runProgram, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
/** A program that uses the client, and what is shown below it. */
const PROGRAM = /```js\n([\s\S]*?)```\n\n```\n([\s\S]*?)```/;
/** What `petstore-client` is in the checkout. */
const CLIENT = new URL('../../client/petstore-client.ts', import.meta.url).href;
const PRODUCTION = /```sh\n(export PETSTORE_ENVIRONMENT=production.*?)```/s;

test('README › its requests in their order › are answered as it says', async () => {
  const cwd = createProcessFolder();
  await using service = await startService(['--log-level', 'warn', '--rehearse'], { cwd });
  const { url, key, output } = service;
  const told = output.stdout
    .replaceAll(url, 'http://127.0.0.1:8080')
    .replaceAll(key, 'petstore_stag_…')
    .replace(cwd, '/home/you/petstore');
  assert.ok(readme.includes(`\n\`\`\`\n${told}\`\`\`\n`), told);
  assert.equal(output.stderr, '');
  assert.equal(await assertReadme(url, key), 4);
  const main = join(cwd, 'program.mjs');
  for (const page of ['README.md', 'client/README.md', 'docs/rehearse.md']) {
    const text = await readFile(join(ROOT, page), 'utf8');
    const [, program = '', printed] = PROGRAM.exec(text) ?? [];
    const here = program.replace("'petstore-client'", `'${CLIENT}'`);
    await writeFile(main, here.replace('http://127.0.0.1:8080', url));
    const ran = await runProgram([], { cwd, main, env: { KEY: service.key } });
    assert.equal(ran.stdout, printed, ran.stderr);
  }
});

test('README › its lines for production › serve other machines, with the key that they make', async () => {
  const cwd = createProcessFolder();
  // `npm run` and `npm start` would take the folder of the checkout.
  const script = String(PRODUCTION.exec(readme)?.[1])
    .replace('npm run -s petstore --', '"$0" "$1"')
    .replace('npm start --', 'exec "$0" "$@"');
  const within = ['sh', '-ec', script];
  await using service = await startService([], { cwd, within });
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
