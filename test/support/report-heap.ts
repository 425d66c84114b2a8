/** Loaded into the program by `--import`: on SIGUSR2 it collects what is garbage, and writes the size of its heap. */

import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.on('SIGUSR2', () => {
    globalThis.gc?.();
    process.stderr.write(`heap: ${process.memoryUsage().heapUsed}\n`);
  });
}
