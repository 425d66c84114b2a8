/** Runs the tests of http/ once more, on PostgreSQL; not those of timeouts, connections and load, which have nothing to do with a store. */

import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';

process.env.TEST_ENGINE = 'postgresql';
describe('on PostgreSQL', async () => {
  for (const file of globSync('http/!(timeouts|connections|shed-load).test.ts', {
    cwd: import.meta.dirname,
  }).sort()) {
    await import(join(import.meta.dirname, file));
  }
});
