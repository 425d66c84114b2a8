/**
 * How far a list of 20 is from the limit: this service beside bare node:http sending the same
 * bytes, each pinned to one core, the load on another, in turns. Needs Linux and wrk.
 */

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROUNDS = 5;
const SECONDS = 3;
const CONNECTIONS = 32;
const SERVER_CORE = '0';
const LOAD_CORE = '1';

const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const main = new URL('../src/cli/main.ts', import.meta.url).pathname;

interface Server {
  readonly url: string;
  readonly stdout: string;
  stop(): void;
}

/** Starts a program of this Node on the server's core and waits for its address. */
function start(...args: string[]): Promise<Server> {
  const child = spawn('taskset', ['-c', SERVER_CORE, process.execPath, ...args], {
    // The log is written, and thrown away by the reader.
    stdio: ['ignore', 'pipe', 'ignore'],
    cwd: folder,
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

function load(url: string, key: string): number {
  const out = execFileSync('taskset', [
    '-c',
    LOAD_CORE,
    'wrk',
    '-t',
    '1',
    '-c',
    String(CONNECTIONS),
    '-d',
    `${SECONDS}s`,
    '-H',
    `Authorization: Bearer ${key}`,
    `${url}/v1/pets`,
  ]).toString();
  if (/Non-2xx|Socket errors/.test(out)) throw new Error(`requests failed:\n${out}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(out)?.[1]);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const petstore = await start(main, 'serve', '--port', '0');
const key = /petstore_stag_\w+/.exec(petstore.stdout)?.[0] ?? '';
const authorization = `Bearer ${key}`;
for (let n = 0; n < 20; n += 1) {
  await fetch(`${petstore.url}/v1/pets`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: `{"name":"Animal ${n}","categoryId":${n},"status":"available"}`,
  });
}
const answer = await fetch(`${petstore.url}/v1/pets`, { headers: { authorization } });
const body = await answer.text();
if (JSON.parse(body).length !== 20) throw new Error(`not a list of 20: ${body}`);
const file = join(folder, 'answer.json');
const headers = Object.fromEntries(
  [...answer.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name)),
);
writeFileSync(file, JSON.stringify({ headers, body }));
const limit = await start(new URL('limit.ts', import.meta.url).pathname, file);

const rates = { limit: [] as number[], petstore: [] as number[] };
load(limit.url, key);
load(petstore.url, key);
for (let round = 0; round < ROUNDS; round += 1) {
  rates.limit.push(load(limit.url, key));
  rates.petstore.push(load(petstore.url, key));
}
for (const [name, values] of Object.entries(rates)) {
  const spread = (Math.max(...values) - Math.min(...values)) / median(values);
  console.log(
    `${name.padEnd(10)} ${Math.round(median(values))} requests/s, spread ${Math.round(spread * 100)} %`,
  );
}
console.log(`ratio      ${(median(rates.petstore) / median(rates.limit)).toFixed(2)}`);
petstore.stop();
limit.stop();
rmSync(folder, { recursive: true });
