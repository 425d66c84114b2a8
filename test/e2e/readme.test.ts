/** The README's first steps: its requests are sent as they stand there, and answered as it says. */

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { HAS_CURL, runCurl } from '../support/curl.ts';
import { startService } from '../support/program.ts';

const README = new URL('../../README.md', import.meta.url);
const EXAMPLE = /```sh\n(curl [\s\S]*?)\n```\n\n```json\n(.*)\n```/g;

test('README › its requests in their order › are answered as it says', async (t) => {
  t.diagnostic(HAS_CURL ? 'sent by curl' : 'sent by Node, since there is no curl here');
  const examples = [...(await readFile(README, 'utf8')).matchAll(EXAMPLE)];
  assert.ok(examples.length >= 4, `${examples.length} examples`);
  const cwd = await mkdtemp(join(tmpdir(), 'petstore-'));
  try {
    await using service = await startService([], { cwd });
    for (const [, line = '', expected] of examples) {
      const local = line.replaceAll('http://127.0.0.1:8080', service.url);
      const { body } = await runCurl(local, { KEY: service.key });
      assert.equal(body, expected, line);
    }
  } finally {
    await rm(cwd, { recursive: true });
  }
});
