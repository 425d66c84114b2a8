/** The README's requests, sent as they stand there to a service that has just been started. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { runCurl } from './curl.ts';

/** What `petstore-client` is in the checkout. */
export const CLIENT = new URL('../../client/petstore-client.ts', import.meta.url);
const README = new URL('../../README.md', import.meta.url);
const CLIENT_README = new URL('../../client/README.md', import.meta.url);
const REHEARSE = new URL('../../docs/rehearse.md', import.meta.url);
/** A program that uses the client, and what is shown below it. */
const PROGRAM = /```js\n([\s\S]*?)```\n\n```\n([\s\S]*?)```/;
/** A command, and the answer that is shown below it. */
const EXAMPLE = /```sh\n(curl [\s\S]*?)\n```\n\n```json\n(.*)\n```/g;

/** Asserts that each is answered as the README says; returns how many there are. */
export async function assertReadme(url: string, key: string): Promise<number> {
  const examples = [...(await readFile(README, 'utf8')).matchAll(EXAMPLE)];
  for (const [, line = '', expected] of examples) {
    const { body } = await runCurl(line.replaceAll('http://127.0.0.1:8080', url), { KEY: key });
    assert.equal(body, expected, line);
  }
  return examples.length;
}

/** The program of each page, for a service at that address with --rehearse, and what the page says that it prints. */
export function readPrograms(url: string): Promise<{ program: string; printed: string }[]> {
  return Promise.all([README, CLIENT_README, REHEARSE].map((file) => readProgram(file, url)));
}

/** The block of the README for production. */
export async function readProductionScript(): Promise<string> {
  const [, script = ''] =
    /```sh\n(export PETSTORE_ENVIRONMENT=production.*?)```/s.exec(await readFile(README, 'utf8')) ??
    [];
  return script;
}

async function readProgram(file: URL, url: string) {
  const [, text = '', printed = ''] = PROGRAM.exec(await readFile(file, 'utf8')) ?? [];
  const program = text
    .replace("'petstore-client'", JSON.stringify(CLIENT.href))
    .replace('http://127.0.0.1:8080', url);
  return { program, printed };
}
