/** The curl lines that people paste: run by a shell, or sent by Node on a machine without curl. */

import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
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

async function sendLine(line: string, variables: Readonly<Record<string, string>>) {
  const [, ...words] = splitWords(line, variables);
  const headers = new Headers();
  let url = '';
  let body: string | undefined;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) url = word;
    else {
      at += 1;
      const value = words[at] ?? '';
      const [name = '', ...rest] = value.split(': ');
      if (word === '-H') headers.set(name, rest.join(': '));
      else if (word === '-d') body = value;
      else throw new Error(`this curl line needs curl, for its ${word}: ${line}`);
    }
  }
  const init = body === undefined ? { headers } : { method: 'POST', headers, body };
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(HANG_MS) });
  return { status: answer.status, body: await answer.text() };
}

/** The words of a command of the shell: in quotes of either kind or none, with `$NAME` filled in. */
function splitWords(line: string, variables: Readonly<Record<string, string>>): string[] {
  const word = /(?:'[^']*'|"[^"]*"|[^\s'"])+/g;
  const fill = (text: string) => text.replace(/\$(\w+)/g, (_, name) => variables[name] ?? '');
  return (line.replaceAll('\\\n', ' ').match(word) ?? []).map((quoted) =>
    quoted.replace(/'([^']*)'|"([^"]*)"|[^'"]+/g, (part, single, double) =>
      single === undefined ? fill(double ?? part) : single,
    ),
  );
}
