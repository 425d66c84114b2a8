/** What every comparison needs: programs on one core, the load on another, medians; what is compared is not known here. */

import { execFileSync, spawn } from 'node:child_process';

const SERVER_CORE = '0';
const LOAD_CORE = '1';
const CONNECTIONS = 32;

export const ROUNDS = 5;
export const SECONDS = 3;

/** Keeps this process, and what it starts, on the core of the load. */
export function stayOnLoadCore(): void {
  execFileSync('taskset', ['-cp', LOAD_CORE, String(process.pid)]);
}

/** The output of a program of this Node that runs to its end on the server's core. */
export function run(...args: string[]): string {
  return execFileSync('taskset', ['-c', SERVER_CORE, process.execPath, ...args]).toString();
}

export interface Server {
  readonly url: string;
  readonly stdout: string;
  stop(): void;
}

/** Starts a program of this Node on the server's core and waits for its address. */
export function start(cwd: string, ...args: string[]): Promise<Server> {
  const child = spawn('taskset', ['-c', SERVER_CORE, process.execPath, ...args], {
    // The log is written, and thrown away by the reader.
    stdio: ['ignore', 'pipe', 'ignore'],
    cwd,
  });
  return new Promise((resolve, reject) => {
    let stdout = '';
    child.on('exit', () => reject(new Error(`${args[0]} ended: ${stdout}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk;
      const url = /listens on (http:\S+)/.exec(stdout)?.[1];
      if (url !== undefined) resolve({ url, stdout, stop: () => child.kill() });
    });
  });
}

/** Requests per second under the load of wrk; a script says what to ask other than the path. */
export function load(url: string, key: string, script?: string): number {
  const out = execFileSync('taskset', [
    ...['-c', LOAD_CORE, 'wrk', '-t', '1', '-c', String(CONNECTIONS), '-d', `${SECONDS}s`],
    ...['-H', `Authorization: Bearer ${key}`],
    ...(script === undefined ? [] : ['-s', script]),
    url,
  ]).toString();
  if (/Non-2xx|Socket errors/.test(out)) throw new Error(`requests failed:\n${out}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(out)?.[1]);
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Prints the median and the spread of each. */
export function print(rates: Readonly<Record<string, readonly number[]>>): void {
  for (const [name, values] of Object.entries(rates)) {
    const spread = (Math.max(...values) - Math.min(...values)) / median(values);
    console.log(
      `${name.padEnd(14)} ${Math.round(median(values))}/s, spread ${Math.round(spread * 100)} %`,
    );
  }
}
