/** The program: runs the command that its arguments name. */

import { fail, run } from './run.ts';

// The service goes on if the reader of its output closes the pipe.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fail(error);
  });
}
await run(process.argv.slice(2));
