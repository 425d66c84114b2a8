/** The README's first steps are true. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { HAS_CURL } from '../support/curl.ts';
import { startService } from '../support/program.ts';
import { assertReadme } from '../support/readme.ts';

test('README › its requests in their order › are answered as it says', async (t) => {
  t.diagnostic(HAS_CURL ? 'sent by curl' : 'sent by Node, since there is no curl here');
  const cwd = await mkdtemp(join(tmpdir(), 'petstore-'));
  try {
    await using service = await startService([], { cwd });
    assert.equal(await assertReadme(service.url, service.key), 4);
  } finally {
    await rm(cwd, { recursive: true });
  }
});
