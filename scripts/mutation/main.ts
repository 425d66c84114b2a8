/**
 * Mutation testing: `npm run mutation`, or of some parts of `src/` `npm run mutation -- root http storage`.
 * Installs Stryker beside this file when it is missing; ends with 1 when a score is below its bar.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const PARTS = ['root', 'http', 'storage'];
const STRYKER = join(import.meta.dirname, 'node_modules/@stryker-mutator/core/bin/stryker.js');

const named = process.argv.slice(2);
if (named.some((part) => !PARTS.includes(part))) {
  process.stderr.write(`usage: npm run mutation -- [${PARTS.join('] [')}]\n`);
  process.exit(2);
}
if (!existsSync(STRYKER)) run('npm', ['ci', '--ignore-scripts', '--prefix', import.meta.dirname]);
const parts = named.length > 0 ? named : PARTS;
const scores = parts.map((part) =>
  run(process.execPath, [STRYKER, 'run', join(import.meta.dirname, 'stryker.config.js')], part),
);
process.exit(Math.max(...scores));

/** The exit status. */
function run(command: string, args: readonly string[], part?: string): number {
  const { status } = spawnSync(command, args, {
    cwd: join(import.meta.dirname, '../..'),
    env: { ...process.env, ...(part !== undefined && { MUTATION_PART: part }) },
    stdio: 'inherit',
    // npm is a script of the shell on Windows.
    shell: command === 'npm' && process.platform === 'win32',
  });
  return status ?? 1;
}
