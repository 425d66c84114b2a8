/**
 * Runs a suite: `npm test`, `npm run test:unit`, `npm run test:browser`, `npm run outages`, `npm run abuse`,
 * `npm run crash`, `npm run fuzz`, `npm run soak`, `npm run monitoring`, `npm run pooler`, `npm run litestream`,
 * `npm run recipes`, `npm run runtimes`; with files after `--`, only those: `npm test -- test/json.test.ts`.
 *
 * No run lasts for ever: each test and the whole run have a limit of time, and when the run ends,
 * every process that it started ends with it.
 */

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { findPostgresBin } from './support/postgres-cluster.ts';
import { withoutOptions } from './support/program.ts';

/** PGlite has one session for all files: with more of them at once, its answers come too late. */
const PGLITE_CONCURRENCY = 2;

interface Suite {
  readonly files: readonly string[];
  /** How many files run at the same time. */
  readonly concurrency: number;
  readonly testSecondsMax: number;
  readonly runMinutesMax: number;
  /** Whether one PostgreSQL server is started for all files. */
  readonly hasServer: boolean;
}

const SUITES: Readonly<Record<string, Suite>> = {
  all: {
    files: ['test/**/*.test.ts'],
    // Some of them wait.
    concurrency: 5,
    testSecondsMax: 60,
    runMinutesMax: 25,
    hasServer: true,
  },
  unit: {
    files: [
      'test/!(http-on-postgresql).test.ts',
      'test/service/rate-limiter.test.ts',
      'test/storage/{address,group-commit,page-cache}.test.ts',
    ],
    concurrency: 3,
    testSecondsMax: 10,
    runMinutesMax: 1,
    hasServer: false,
  },
  browser: {
    files: ['test/browser/*.browser.ts'],
    concurrency: 2,
    testSecondsMax: 60,
    runMinutesMax: 10,
    hasServer: false,
  },
  outages: {
    files: ['test/outages/*.outage.ts'],
    concurrency: 1,
    testSecondsMax: 300,
    runMinutesMax: 30,
    hasServer: true,
  },
  abuse: {
    files: ['test/abuse/*.abuse.ts'],
    concurrency: 1,
    testSecondsMax: 180,
    runMinutesMax: 30,
    hasServer: false,
  },
  monitoring: {
    files: ['test/monitoring/*.monitoring.ts'],
    concurrency: 1,
    testSecondsMax: 120,
    runMinutesMax: 5,
    hasServer: true,
  },
  pooler: {
    files: ['test/pooler/*.pooler.ts'],
    concurrency: 2,
    testSecondsMax: 60,
    runMinutesMax: 25,
    hasServer: true,
  },
  litestream: {
    files: ['test/litestream/*.litestream.ts'],
    concurrency: 1,
    testSecondsMax: 180,
    runMinutesMax: 30,
    hasServer: false,
  },
  recipes: {
    files: ['test/recipes/*.recipe.ts'],
    concurrency: 1,
    testSecondsMax: 120,
    runMinutesMax: 5,
    hasServer: false,
  },
  runtimes: {
    files: ['test/client/*.runtime.ts'],
    concurrency: 1,
    testSecondsMax: 120,
    runMinutesMax: 15,
    hasServer: false,
  },
  fuzz: {
    files: ['test/fuzz/*.fuzz.ts'],
    concurrency: 1,
    testSecondsMax: 3_600,
    runMinutesMax: 65,
    hasServer: false,
  },
  soak: {
    files: ['test/fuzz/*.soak.ts'],
    concurrency: 1,
    testSecondsMax: 7_200,
    runMinutesMax: 125,
    hasServer: false,
  },
  crash: {
    files: ['test/durability/*.durability.ts'],
    concurrency: 1,
    testSecondsMax: 600,
    runMinutesMax: 30,
    hasServer: true,
  },
};

const root = join(import.meta.dirname, '..');
const [name = '', ...named] = process.argv.slice(2);
const suite = SUITES[name];
if (suite === undefined) {
  process.stderr.write(`usage: node test/main.ts ${Object.keys(SUITES).join('|')} [FILE…]\n`);
  process.exit(2);
}
process.exit(await run(suite, named.length > 0 ? named : suite.files));

/** Resolves to the exit status of the run; no process of it is left then. */
async function run(suite: Suite, files: readonly string[]): Promise<number> {
  const args = [
    '--test',
    ...(suite.hasServer ? ['--test-global-setup=test/support/global-setup.ts'] : []),
    '--import=./test/support/process-limits.ts',
    `--test-concurrency=${findPostgresBin() ? suite.concurrency : PGLITE_CONCURRENCY}`,
    `--test-timeout=${suite.testSecondsMax * 1_000}`,
    ...files,
  ];
  // A process group of its own, which all that it starts belongs to, and which is ended as one.
  const runner = spawn(process.execPath, args, {
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
    process.stderr.write(
      `The run took longer than ${suite.runMinutesMax} minutes and was ended.\n`,
    );
    endAll('SIGKILL');
  }, suite.runMinutesMax * 60_000);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => endAll(signal));
  }
  const { promise, resolve } = Promise.withResolvers<number>();
  runner.on('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    resolve(1);
  });
  runner.on('exit', (status, signal) => {
    resolve(status ?? 128 + (signal === null ? 0 : constants.signals[signal]));
  });
  const status = await promise;
  clearTimeout(timer);
  endAll('SIGKILL');
  return status;
}
