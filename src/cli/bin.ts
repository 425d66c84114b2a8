#!/usr/bin/env node
/** The command of the package: starts the program, or says in one line that it needs a newer Node. */

/** As `engines` in package.json. An older Node has no `node:sqlite`: the program is imported only after the check. */
const MAJOR_MIN = 24;

if (Number(process.versions.node.split('.')[0]) >= MAJOR_MIN) {
  await import('./main.ts');
} else {
  process.stderr.write(
    `petstore: this needs Node ${MAJOR_MIN} or newer, and the machine has ${process.versions.node}: install Node ${MAJOR_MIN} or newer from https://nodejs.org\n`,
  );
  process.exitCode = 1;
}
