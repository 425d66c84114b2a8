/**
 * Runs a suite: `npm run suite outages`. With files after its name, or after `--`, only those: `npm test -- test/json.test.ts`.
 *
 * No run lasts for ever: each test and the whole run have a limit of time, and when the run ends,
 * every process that it started ends with it.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import { SUITES, type Suite } from './suites.ts';
import { BUSY } from './support/hang.ts';
import { findPostgresBin } from './support/postgres-cluster.ts';
import { withoutOptions } from './support/program.ts';

/** PGlite has one session for all files: with more of them at once, its answers come too late. */
const PGLITE_CONCURRENCY = 2;

/** Of a test that waits for what happens in minutes. The machine may become busy after this. */
const LONG_MINUTES_MAX = 30;
const RUN_MS_MAX = 3_600_000 * BUSY;

const root = join(import.meta.dirname, '..');
const [name = '', ...named] = process.argv.slice(2);
const suite = SUITES[name];
if (suite === undefined) {
  process.stderr.write(`usage: npm run suite ${Object.keys(SUITES).join('|')} [FILE…]\n`);
  process.exit(2);
}
process.exit(await run(suite, named.length > 0 ? named : suite.files));

/** Resolves to the exit status of the run; no process of it is left then. */
async function run(
  { minutesMax = LONG_MINUTES_MAX, concurrency = 1, hasServer = false, beneath = [] }: Suite,
  files: readonly string[],
): Promise<number> {
  const msMax = Math.max(RUN_MS_MAX, minutesMax * 60_000);
  const [command = '', ...args] = [
    ...beneath,
    process.execPath,
    '--test',
    ...(hasServer ? ['--test-global-setup=test/support/global-setup.ts'] : []),
    '--import=./test/support/process-limits.ts',
    `--test-concurrency=${findPostgresBin() ? concurrency : PGLITE_CONCURRENCY}`,
    `--test-timeout=${minutesMax * 60_000}`,
    ...files,
  ];
  // A process group of its own, which all that it starts belongs to, and which is ended as one.
  const runner = spawn(command, args, {
    ...{ cwd: root, env: withoutOptions(process.env), stdio: 'inherit', detached: true },
  });
  const endAll = (signal: NodeJS.Signals) => {
    try {
      process.kill(-(runner.pid ?? Number.NaN), signal);
    } catch {
      // None of them is left.
    }
  };
  const timer = setTimeout(() => {
    process.stderr.write(`The run took longer than ${msMax / 60_000} minutes and was ended.\n`);
    endAll('SIGKILL');
  }, msMax);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => endAll(signal));
  }
  const [status, signal] = (await once(runner, 'exit')) as [number | null, NodeJS.Signals];
  clearTimeout(timer);
  endAll('SIGKILL');
  return status ?? 128 + constants.signals[signal];
}
