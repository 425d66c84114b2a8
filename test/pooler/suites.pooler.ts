/** Runs the tests of http/, of the store's contract and of what takes long through PgBouncer in transaction mode. */

import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { startPgbouncer } from '../support/pgbouncer.ts';

const TESTS = join(import.meta.dirname, '..');

const pgbouncer = await startPgbouncer(String(process.env.TEST_POSTGRES));
after(() => pgbouncer[Symbol.asyncDispose]());
process.env.TEST_PGBOUNCER = pgbouncer.url;
process.env.TEST_ENGINE = 'postgresql';

// What is left out replaces timers, or connections, of the whole process.
describe('through PgBouncer', async () => {
  for (const file of globSync(
    [
      'http/!(timeouts|connections|fair-queue|leaks|unread-body).test.ts',
      'storage/contract/*.test.ts',
      'storage/{copy,purge}.test.ts',
      'cli/{copy,corrections,pets}.test.ts',
    ],
    { cwd: TESTS },
  ).sort()) {
    await import(join(TESTS, file));
  }
});
