/** Runs the tests of http/ once more, on PostgreSQL. */

import { globSync } from 'node:fs';
import { join } from 'node:path';
import { before } from 'node:test';

process.env.PETSTORE_TEST_ENGINE = 'postgresql';
// To load them all takes longer than an answer may: no test begins before.
const loaded = Promise.withResolvers<void>();
before(() => loaded.promise);
for (const file of globSync('http/*.test.ts', { cwd: import.meta.dirname }).sort()) {
  await import(join(import.meta.dirname, file));
}
loaded.resolve();
