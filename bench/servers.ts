/** The servers: how each is started, as a process on a core of its own. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAIN } from '../test/support/program.ts';
import { type Answer, getFreePort } from '../test/support/socket.ts';
import type { Dataset } from './datasets.ts';

/** The core of the server. The load, PostgreSQL and this process share the other core. */
const SERVER_CORE = '0';
const LOAD_CORE = '1';

const START_MS_MAX = 60_000;
const POLL_MS = 2;

export interface Server extends AsyncDisposable {
  /** Up to and without `/pets`. */
  readonly url: string;
  readonly key: string;
  readonly pid: number;
  /** From the start of its process to its first answer. */
  readonly startMs: number;
  /** Its resident memory after that. */
  readonly startMiB: number;
}

interface Program {
  /** The arguments of Node. */
  readonly args: (port: string) => readonly string[];
  /** The server answers this path with a status below 500 when it is ready. */
  readonly readyPath?: string;
  /** The path before `/pets`. */
  readonly prefix?: string;
  readonly key?: string;
  /** Whether its log goes to standard error, which is then discarded. */
  readonly isLogging?: boolean;
}

/** Pins this process, and those that it starts, to the core of the load. */
export function stayOnLoadCore(): void {
  execFileSync('taskset', ['-acp', LOAD_CORE, String(process.pid)]);
}

export function program(name: string): string {
  return join(import.meta.dirname, 'programs', `${name}.ts`);
}

/** The option of Node with which package.json, and the examples in deploy/, start the service. */
const NODE_OPTION = '--max-semi-space-size=8';

/** The service with its default options; its log is written and discarded. */
export function startPetstore({ address, key }: Dataset): Promise<Server> {
  return start({
    args: (port) => [NODE_OPTION, MAIN, 'serve', '--port', port, '--database', address],
    readyPath: '/readyz',
    key,
    isLogging: true,
  });
}

export function startNaive({ file, key }: Dataset): Promise<Server> {
  return start({
    args: (port) => [program('naive'), port, file],
    readyPath: '/readyz',
    key,
    isLogging: true,
  });
}

/** The baseline, which sends this answer. */
export function startBaseline(folder: string, answer: Answer): Promise<Server> {
  const file = join(folder, 'answer.json');
  writeFileSync(file, JSON.stringify(answer));
  return start({ args: (port) => [program('baseline'), port, file] });
}

/** Starts a program on the server's core and waits for its first answer. */
export async function start(options: Program): Promise<Server> {
  const { args, readyPath = '/', prefix = '/v1', key = '', isLogging = false } = options;
  const port = await getFreePort();
  const url = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  const child = spawnNode(SERVER_CORE, args(String(port)), isLogging ? 'ignore' : 'inherit');
  while (!(await isReady(url + readyPath))) {
    if (isGone(child) || performance.now() - startedAt > START_MS_MAX) {
      throw new Error(`it does not start: node ${args(String(port)).join(' ')}`);
    }
    await sleep(POLL_MS);
  }
  const startMs = performance.now() - startedAt;
  const pid = child.pid ?? 0;
  const startMiB = readMemoryMiB({ pid });
  return { url: url + prefix, key, pid, startMs, startMiB, ...stopping(child) };
}

/** Starts a program on the core of the load. If the program ends by itself, the bench ends too. */
export function startBesideLoad(args: readonly string[]): AsyncDisposable {
  const child = spawnNode(LOAD_CORE, args, 'inherit');
  const onExit = () => {
    throw new Error(`it ended: node ${args.join(' ')}`);
  };
  child.once('exit', onExit);
  const { [Symbol.asyncDispose]: stop } = stopping(child);
  return {
    [Symbol.asyncDispose]() {
      child.off('exit', onExit);
      return stop();
    },
  };
}

/** The ticks of USER_HZ, which is 100 on every Linux. */
const TICK_MICROS = 10_000;

/** User and system time of a process, all its threads, and the processes that it has started. */
export function readCpuMicros({ pid }: Pick<Server, 'pid'>): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // After the name of the program, which may have spaces, come 11 fields, then utime and stime.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = TICK_MICROS * (Number(fields[11]) + Number(fields[12]));
  const started = children.split(' ').filter((child) => child !== '');
  return started.reduce((sum, child) => sum + readCpuMicros({ pid: Number(child) }), own);
}

/** The resident memory of a process. */
export function readMemoryMiB({ pid }: Pick<Server, 'pid'>): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

function spawnNode(
  core: string,
  args: readonly string[],
  stderr: 'ignore' | 'inherit',
): ChildProcess {
  const command = ['-c', core, process.execPath, ...args];
  const child = spawn('taskset', command, { stdio: ['ignore', 'ignore', stderr] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

function stopping(child: ChildProcess): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      if (isGone(child)) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

function isGone({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function isReady(url: string): Promise<boolean> {
  return fetch(url).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.status < 500;
    },
    () => false,
  );
}
