/** Runs the tests of http/ once more, on PostgreSQL; not those of timeouts, which never get to a store. */

import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';

process.env.TEST_ENGINE = 'postgresql';
describe('on PostgreSQL', async () => {
  for (const file of globSync('http/!(timeouts).test.ts', { cwd: import.meta.dirname }).sort()) {
    await import(join(import.meta.dirname, file));
  }
});
