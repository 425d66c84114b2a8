/**
 * Loaded before each test file. Its process ends soon after its last test, whatever a test left open, with a
 * failure that names what was open. A process that ends before its last test fails too.
 */

import { isMainThread } from 'node:worker_threads';
import { HANG_MS } from './hang.ts';

// The process that runs the files loads this too, and waits for all of them; a thread, of which each store
// on SQLite starts one, need not load `node:test`.
if (process.env.NODE_TEST_CONTEXT !== undefined && isMainThread) {
  const { after } = await import('node:test');
  let isDone = false;
  process.on('exit', () => {
    if (isDone) return;
    process.stderr.write(`${process.argv[1]} ended before its last test\n`);
    process.exitCode = 1;
  });
  after(() => {
    isDone = true;
    const timer = setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ');
      process.stderr.write(`${process.argv[1]} did not end after its last test: ${open}\n`);
      process.exit(1);
    }, HANG_MS);
    timer.unref();
  });
}
