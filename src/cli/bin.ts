#!/usr/bin/env node
/** The command of the package: starts the program, or says in one line that it needs a newer Node. */

/** `engines` in package.json says the same. An older Node has no `node:sqlite`, so nothing is imported before. */
const MAJOR_MIN = 24;

if (Number(process.versions.node.split('.')[0]) >= MAJOR_MIN) {
  await import('./main.ts');
} else {
  process.stderr.write(
    `petstore: it needs Node ${MAJOR_MIN} or newer, and this is ${process.versions.node}: install a newer one from https://nodejs.org\n`,
  );
  process.exitCode = 1;
}
