/** Runs the tests of http/ whose answers depend on the store once more, on PostgreSQL. */

import { describe } from 'node:test';

process.env.TEST_ENGINE = 'postgresql';
describe('on PostgreSQL', async () => {
  for (const name of ['create', 'get', 'health', 'list', 'operations']) {
    await import(`./http/${name}.test.ts`);
  }
});
