#!/usr/bin/env node
/** The program: runs the command that its arguments name, or says in one line that it needs a newer Node. */

/** As `engines` in package.json. An older Node has no `node:sqlite`: the commands are imported only after the check. */
const MAJOR_MIN = 24;

if (Number(process.versions.node.split('.')[0]) >= MAJOR_MIN) {
  const { fail, run } = await import('./run.ts');
  // The driver of PostgreSQL warns its programmers when it reads .pgpass: that line is no line of the log.
  process.noDeprecation = true;
  // The service goes on if the reader of its output closes the pipe.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fail(error);
  });
  // A script would repeat work that is done if the status were that of its messages.
  process.stderr.on('error', () => undefined);
  await run(process.argv.slice(2));
} else {
  process.stderr.write(
    `petstore: this needs Node ${MAJOR_MIN} or newer, and the machine has ${process.versions.node}: install Node ${MAJOR_MIN} or newer from https://nodejs.org\n`,
  );
  process.exitCode = 1;
}
