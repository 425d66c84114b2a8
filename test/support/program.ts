/** The real program in a process of its own; it knows nothing of the source but where it starts. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach } from 'node:test';
import { fileURLToPath } from 'node:url';
import { HANG_MS } from './hang.ts';
import { until } from './until.ts';

/** Where the program starts. */
export const MAIN = fileURLToPath(new URL('../../src/cli/bin.ts', import.meta.url));

/** What the programs and commands of the test that runs have printed so far. */
const printed: (() => unknown)[] = [];
const OUTPUT_SHOWN_MAX = 4_000;
export const showIfFailed = (output: () => unknown) => printed.push(output);
// `test/main.ts` and the scripts load this too, and are no tests.
if (process.env.NODE_TEST_CONTEXT !== undefined) afterEach(showPrinted);

function showPrinted(t: object): void {
  const texts = printed
    .splice(0)
    .map((output) => JSON.stringify(output()).slice(-OUTPUT_SHOWN_MAX));
  if ('passed' in t && t.passed === false) process.stderr.write(`${texts.join('\n')}\n`);
}

/** Those that run now: this process ends them with itself, whatever made it end. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A command that runs the program, like `ip netns exec NAME`. */
  readonly within?: readonly string[];
  /** Where the program starts, when it is not MAIN. */
  readonly main?: string;
}

export interface Finished {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** That a command ended with this status, told why in one line, and printed nothing. */
export function assertRefused(
  { status, stdout, stderr }: Finished,
  expected: number,
  line: string,
): void {
  assert.deepEqual(
    { status, stdout, stderr },
    { status: expected, stdout: '', stderr: `petstore: ${line}\n` },
  );
}

/** Runs a command to its end; one that takes too long is killed, and fails. */
export async function runProgram(
  args: readonly string[],
  options: RunOptions & {
    /** The limit for the command, when it is not that of all. */
    readonly runMsMax?: number;
  },
): Promise<Finished> {
  const { runMsMax = HANG_MS } = options;
  const { process, finished, output } = startProgram(args, options);
  const timer = setTimeout(() => process.kill('SIGKILL'), runMsMax);
  const ended = await finished.finally(() => clearTimeout(timer));
  const what = `${args.join(' ')} did not end within ${runMsMax} ms`;
  assert.ok(!process.killed, `${what}; it wrote so far: ${output.stdout}${output.stderr}`);
  return ended;
}

export interface RunningProgram extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly finished: Promise<Finished>;
  /** What it wrote so far. */
  readonly output: { stdout: string; stderr: string };
}

/** On PGlite, which has one session for all tests, a request may take longer than in production. */
const PATIENT = process.env.TEST_PGLITE ? { PETSTORE_DATABASE_TIMEOUT: '30' } : {};

/** What whoever runs the tests has set for a service of their own must not change what is tested. */
export function withoutOptions(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const others = Object.entries(variables).filter(([name]) => !name.startsWith('PETSTORE_'));
  return Object.fromEntries(others);
}

/** Variables by which a program executes this module first. */
export const importing = (module: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(module)}`,
});

/**
 * Variables by which a program sends itself the signal after a statement of SQLite that begins like this. It waits for
 * the answer to a commit for longer than 5 s, which a busy machine may need.
 */
export const signalAt = (beginning: string, signal: string) =>
  importing(`
    import { DatabaseSync } from 'node:sqlite';
    const { exec } = DatabaseSync.prototype;
    const set = globalThis.setTimeout;
    globalThis.setTimeout = (run, ms, ...rest) => set(run, ms === 5_000 ? 1_000_000 : ms, ...rest);
    DatabaseSync.prototype.exec = function (sql) {
      exec.call(this, sql);
      if (sql.startsWith('${beginning}')) process.kill(process.pid, '${signal}');
    };
  `);

/** Starts a command without waiting for it; `await using` kills it. */
export function startProgram(
  args: readonly string[],
  { cwd, env, within = [], main = MAIN }: RunOptions,
): RunningProgram {
  const [command = '', ...rest] = [...within, process.execPath, main, ...args];
  const child = spawn(command, rest, {
    cwd,
    env: { ...withoutOptions(process.env), ...PATIENT, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  showIfFailed(() => ({ args, status: child.exitCode, signal: child.signalCode, ...output }));
  const finished = once(child, 'close').then(([status, signal]) => ({ status, signal, ...output }));
  return {
    ...{ process: child, finished, output },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await finished;
    },
  };
}

export interface RunningService extends RunningProgram {
  /** Up to and without `/v1`. */
  readonly url: string;
  readonly port: number;
  /** The key that the first start printed; empty when it printed none. */
  readonly key: string;
}

/**
 * Starts `serve` on a free port and waits until it listens; `await using` kills it. One that does not
 * listen in time is killed before this throws.
 */
export async function startService(
  args: readonly string[],
  options: RunOptions,
): Promise<RunningService> {
  const program = startProgram(['serve', '--port', '0', ...args], options);
  const { process, output } = program;
  const findUrl = () => /listens on (http:[^\s"]+)[\s"]/.exec(output.stdout + output.stderr)?.[1];
  const hasEnded = () => (process.exitCode ?? process.signalCode) !== null;
  await until(() => findUrl() !== undefined || hasEnded()).catch(() => undefined);
  const url = findUrl();
  if (url === undefined) {
    await program[Symbol.asyncDispose]();
    throw new Error(`the program does not listen: ${output.stderr}`);
  }
  const key = /(petstore_stag_\w+)/.exec(output.stdout)?.[1] ?? '';
  return { ...program, url, port: Number(new URL(url).port), key };
}

/** The facts that the start told, in the line of the log about them. */
export function readFacts({
  output: { stderr },
}: RunningProgram): Readonly<Record<string, string>> {
  const line = stderr.split('\n').find((line) => line.includes(' listens on '));
  const { time: _, level: __, pid: ___, ...facts } = JSON.parse(line ?? '{}');
  return facts;
}

/** What the start said so far: as lines of the log, then on standard output. */
export function readStart({ output: { stdout, stderr } }: RunningProgram): string {
  const lines = stderr.split('\n').filter((line) => line.endsWith('}'));
  const messages = lines.flatMap((line) => JSON.parse(line).msg ?? []);
  return [...messages, stdout].join('\n');
}
