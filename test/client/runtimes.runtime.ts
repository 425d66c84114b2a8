/** The compiled client on older and newer Nodes, Bun and Deno; and what Node 18 says. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { openPlace } from '../support/client-place.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { SCENARIOS } from './scenarios/all.ts';

const ROOT = join(import.meta.dirname, '../..');
const MODULES = join(ROOT, '.ci/runtimes/node_modules');
const run = promisify(execFile);

const folder = createProcessFolder();
const script = join(folder, 'test/client/run-scenarios.js');
await run(process.execPath, [
  ...[join(ROOT, 'node_modules/typescript/bin/tsc'), '--project', join(ROOT, 'test/client')],
  ...['--outDir', folder],
]);
await writeFile(join(folder, 'package.json'), '{"type":"module"}');

for (const [name, runtime, command, ...args] of [
  ['Node 20', 'node', join(MODULES, 'node-20/bin/node')],
  ['Node 22', 'node', join(MODULES, 'node-22/bin/node')],
  ['Node 24', 'node', process.execPath],
  ['Node 26', 'node', join(MODULES, 'node-26/bin/node')],
  ['Bun', 'bun', join(MODULES, '@oven/bun-linux-x64/bin/bun')],
  ['Deno', 'deno', join(MODULES, '@deno/linux-x64-glibc/deno'), 'run', '--allow-net'],
] as const) {
  test(`client › on ${name} › passes its scenarios`, async (t) => {
    await using place = await openPlace();
    t.diagnostic((await run(command, ['--version'])).stdout.trim());
    const all = [...args, script, JSON.stringify({ ...place, runtime })];
    const { stdout } = await run(command, all, { cwd: folder });
    assert.deepEqual(
      stdout.trim().split('\n'),
      Object.keys(SCENARIOS).map((scenario) => `passed: ${scenario}`),
    );
  });
}

test('client › on Node 18 › says which Node it needs', async () => {
  const program = `
    import { PetstoreClient } from './client/petstore-client.js';
    new PetstoreClient({ baseUrl: 'http://127.0.0.1:8080/v1', apiKey: 'key' });
  `;
  const main = join(folder, 'main.js');
  await writeFile(main, program);
  await assert.rejects(
    run(join(MODULES, 'node-18/bin/node'), [main]),
    /Error: petstore-client needs Node 20.3 or newer/,
  );
});
