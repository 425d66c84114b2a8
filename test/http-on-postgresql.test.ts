/**
 * Runs the tests of http/ once more, on PostgreSQL.
 *
 * Not those of what the service does without its store, or before it asks it: connections, timeouts,
 * parsing, routing, bodies, limits, the log of refusals, the documents and pages. Their only use of the
 * store is a key that is found, and a list or a create that is answered, whose status, headers and body
 * are those of the other files here.
 */

import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';

const WITHOUT_STORE = [
  ...['client-address', 'connections', 'docs-script', 'document', 'fair-queue', 'headers-and-cors'],
  ...['held-bytes', 'leaks', 'methods-and-paths', 'pages', 'parser', 'rate-limit'],
  ...['request-log', 'timeouts', 'unread-body'],
];

process.env.TEST_ENGINE = 'postgresql';
describe('on PostgreSQL', async () => {
  for (const file of globSync(`http/!(${WITHOUT_STORE.join('|')}).test.ts`, {
    cwd: import.meta.dirname,
  }).sort()) {
    await import(join(import.meta.dirname, file));
  }
});
