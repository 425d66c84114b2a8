/** The curl lines that people paste: run by a shell, or sent by Node on a machine without curl. */

import { execFile, spawnSync } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { HANG_MS } from './hang.ts';

export const HAS_CURL = spawnSync('curl', ['--version']).error === undefined;

/** The answer to a line like `curl URL -H 'Name: value' -d BODY`; `$NAME` stands for a variable. */
export async function runCurl(line: string, variables: Readonly<Record<string, string>> = {}) {
  return HAS_CURL ? runInShell(line, variables) : sendLine(line, variables);
}

async function runInShell(line: string, variables: Readonly<Record<string, string>>) {
  const command = `${line} --silent --show-error --max-time 20 --write-out '\\n%{http_code}'`;
  const env = { ...process.env, ...variables };
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { env });
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end)), body: stdout.slice(0, end) };
}

/** The shell splits the line into words, and gives them to a function of that name. */
async function sendLine(line: string, variables: Readonly<Record<string, string>>) {
  const script = `curl() { printf '%s\\0' "$@"; }\n${line}`;
  const env = { ...process.env, ...variables };
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { env });
  const { values, positionals } = parseArgs({
    args: stdout.split('\0').slice(0, -1),
    allowPositionals: true,
    options: {
      header: { type: 'string', short: 'H', multiple: true, default: [] },
      data: { type: 'string', short: 'd' },
    },
  });
  const headers = values.header.map((header) => header.split(/: (.*)/s, 2) as [string, string]);
  const { data: body } = values;
  const init = body === undefined ? { headers } : { method: 'POST', headers, body };
  const [url = ''] = positionals;
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(HANG_MS) });
  return { status: answer.status, body: await answer.text() };
}
