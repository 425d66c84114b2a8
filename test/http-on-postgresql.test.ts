/** The contract with clients once more, on PostgreSQL; the tests themselves are in http/. */

import { globSync } from 'node:fs';
import { join } from 'node:path';

process.env.PETSTORE_TEST_ENGINE = 'postgresql';
for (const file of globSync('http/*.test.ts', { cwd: import.meta.dirname }).sort()) {
  await import(join(import.meta.dirname, file));
}
