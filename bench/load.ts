/** The load: runs wrk, with the scripts in wrk/; every request must succeed. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Unit } from './measure.ts';
import { readCpuMicros, type Server } from './servers.ts';

/** One thread: the load has one core. */
const THREADS = 1;
const TIMEOUT_SECONDS = 10;

export interface LoadOptions {
  /** The number of connections. Each sends its next request after the answer to its last request. */
  readonly clients: number;
  /** The path after the server's address; left out with a script that sets it. */
  readonly path?: string;
  /** A file in wrk/, and its arguments. */
  readonly script?: readonly [name: string, ...args: string[]];
  /** Whether requests may be refused. Refused requests do not count. */
  readonly mayRefuse?: boolean;
}

/**
 * The CPU time of all that the server did meanwhile, the 99th percentile of the latency, and how many requests
 * were answered by a 503, for example.
 */
export type LoadSample = Record<Exclude<Unit, 'MiB'>, number>;

/** @throws Error if a request has no answer, or a status of 400 or more that is not allowed. */
export async function load(
  server: Server,
  load: LoadOptions,
  seconds: number,
): Promise<LoadSample> {
  const { clients, path = '', script: [script, ...args] = [], mayRefuse = false } = load;
  const before = readCpuMicros(server);
  const { stdout } = await promisify(execFile)('wrk', [
    ...['--threads', String(THREADS), '--connections', String(clients)],
    ...['--duration', `${seconds}s`, '--timeout', `${TIMEOUT_SECONDS}s`, '--latency'],
    ...(server.key === '' ? [] : ['--header', `Authorization: Bearer ${server.key}`]),
    ...(script === undefined ? [] : ['--script', join(import.meta.dirname, 'wrk', script)]),
    server.url + path,
    ...(args.length === 0 ? [] : ['--', ...args]),
  ]);
  const cpuMicros = readCpuMicros(server) - before;
  const answers = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0);
  const requests = answers - refused;
  const perSecond =
    Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]) * (1 - refused / (answers || 1));
  const ms = parseMs(/ 99%\s+(\S+)/.exec(stdout)?.[1]);
  const isGood = refused === 0 && requests > 0 && ms > 0;
  if (/Socket errors/.test(stdout) || !(isGood || mayRefuse)) {
    throw new Error(`requests failed:\n${stdout}`);
  }
  return { 'CPU µs/request': cpuMicros / requests, 'requests/s': perSecond, ms, refused };
}

const MS_OF_UNIT: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1_000, m: 60_000 };

function parseMs(text = ''): number {
  const [, count, unit = ''] = /^([\d.]+)(us|ms|s|m)$/.exec(text) ?? [];
  return Number(count) * (MS_OF_UNIT[unit] ?? Number.NaN);
}
