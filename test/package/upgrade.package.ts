/** The packed service, installed in an empty folder, upgrades a store of 1.0.0; `.ci/package` runs this. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openOlder } from '../support/older-store.ts';
import { type RunOptions, runProgram, startService } from '../support/program.ts';

const { TEST_PACKAGE = '' } = process.env;

async function run(args: readonly string[], options: RunOptions): Promise<string> {
  const ended = await runProgram(args, options);
  assert.equal(ended.status, 0, JSON.stringify(ended));
  return ended.stdout;
}

for (const engine of ['sqlite', 'postgresql'] as const) {
  test(`a store of 1.0.0 on ${engine} › migrated by the packed service › is listed, and takes a pet`, async () => {
    await using older = await openOlder(engine);
    const options = { ...older, main: join(TEST_PACKAGE, 'dist/cli/bin.js') };
    await run(['migrate'], options);
    const key = (await run(['keys', 'create', '--name', 'new'], options)).trim();
    await using service = await startService([], options);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = '{"name":"Rex","categoryId":3}';
    const added = await fetch(`${service.url}/v1/pets`, { method: 'POST', headers, body });
    assert.equal(await added.text(), '{"id":4,"name":"Rex","categoryId":3}');
    const listed = await fetch(`${service.url}/v1/pets`, { headers });
    const pets = await listed.text();
    assert.deepEqual(
      pets.match(/"name":"\w+"/g)?.join(),
      '"name":"Rex","name":"Mia","name":"Tom","name":"Rex"',
    );
    assert.match(pets, /"categoryId":9007199254740993,?/);
    service.process.kill('SIGTERM');
    assert.equal((await service.finished).status, 0);
  });
}
