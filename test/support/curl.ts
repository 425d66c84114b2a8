/** The curl lines that people paste: run by a shell, or sent by Node on a machine without curl. */

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { parseArgs, promisify } from 'node:util';
import { HANG_MS } from './hang.ts';

const HAS_CURL = spawnSync('curl', ['--version']).error === undefined;

/** A command, and the answer that is shown below it. */
const EXAMPLE = /```sh\n(curl [\s\S]*?)\n```\n\n```json\n(.*)\n```/g;

/** Asserts that each line of the README is answered as it says; returns how many there are. */
export async function assertReadme(url: string, key: string): Promise<number> {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const examples = [...readme.matchAll(EXAMPLE)];
  for (const [, line = '', expected] of examples) {
    const { body } = await runCurl(line.replaceAll('http://127.0.0.1:8080', url), { KEY: key });
    assert.equal(body, expected, line);
  }
  return examples.length;
}

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
