/** The program: runs the command that its arguments name. */

import { fail, run } from './run.ts';

// A reader that closes its end of a pipe must not end the service.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fail(error);
  });
}
await run(process.argv.slice(2));
