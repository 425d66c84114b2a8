/** The real program in a process of its own; it knows nothing of the source but where it starts. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Where the program starts. */
export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** Halves the time that a start takes, of which the tests make many. */
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url));

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A command that runs the program, like `ip netns exec NAME`. */
  readonly within?: readonly string[];
}

export interface Finished {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. */
export async function runProgram(args: readonly string[], options: RunOptions): Promise<Finished> {
  return startProgram(args, options).finished;
}

export interface RunningProgram {
  readonly process: ChildProcess;
  readonly finished: Promise<Finished>;
  /** What it wrote so far. */
  readonly output: { stdout: string; stderr: string };
}

/** Starts a command without waiting for it. */
export function startProgram(
  args: readonly string[],
  { cwd, env, within = [] }: RunOptions,
): RunningProgram {
  const [command = '', ...rest] = [...within, process.execPath, MAIN, ...args];
  const child = spawn(command, rest, {
    cwd,
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const finished = once(child, 'close').then(([status, signal]) => ({ status, signal, ...output }));
  return { process: child, finished, output };
}

export interface RunningService extends RunningProgram, AsyncDisposable {
  /** Up to and without `/v1`. */
  readonly url: string;
  readonly port: number;
  /** The key that the first start printed; empty when it printed none. */
  readonly key: string;
}

/** Starts `serve` on a free port and waits until it listens; `await using` kills it. */
export async function startService(
  args: readonly string[],
  options: RunOptions,
): Promise<RunningService> {
  const program = startProgram(['serve', '--port', '0', ...args], options);
  const url = await waitFor(program, /listens on (http:\S+)/);
  const key = /(petstore_stag_\w+)/.exec(program.output.stdout)?.[1] ?? '';
  return {
    ...program,
    url,
    port: Number(new URL(url).port),
    key,
    async [Symbol.asyncDispose]() {
      program.process.kill('SIGKILL');
      await program.finished;
    },
  };
}

async function waitFor(program: RunningProgram, pattern: RegExp): Promise<string> {
  let isFinished = false;
  void program.finished.then(() => {
    isFinished = true;
  });
  for (;;) {
    const found = pattern.exec(program.output.stdout)?.[1];
    if (found !== undefined) return found;
    if (isFinished) throw new Error(`the program ended early: ${program.output.stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
