/** Backups and exports are on the disk before they have their names, by the system calls of the real program. */

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const STRACE = [
  ...['strace', '--follow-forks', '--seccomp-bpf', '--decode-fds=path', '--status=successful'],
  '--trace=write,writev,pwrite64,fsync,fdatasync,close,link,linkat,rename,renameat,renameat2',
] as const;

const PETS = '{"name":"Rex","categoryId":1}\n'.repeat(5_000);

/** What the command did to the file and its folder, in its order: one word for each run of equal calls. */
async function traceFile(args: readonly string[]): Promise<string[]> {
  const name = String(args.at(-1));
  const cwd = createProcessFolder();
  await writeFile(join(cwd, 'source.ndjson'), PETS);
  const imported = await runProgram(['pets', 'import', 'source.ndjson'], { cwd });
  assert.equal(imported.status, 0, imported.stderr);
  const output = join(cwd, 'trace');
  const { status, stderr } = await runProgram(args, {
    cwd,
    within: [...STRACE, `--output=${output}`],
  });
  assert.equal(status, 0, stderr);
  const calls: string[] = [];
  for (const line of (await readFile(output, 'latin1')).split('\n')) {
    const [, call = '', path = ''] = /^\d+ +(\w+)\((?:\d+<([^>]*)>)?/.exec(line) ?? [];
    const kind = call.replace(/^p?write.*/, 'write').replace(/^(?:link|rename).*/, 'name');
    const isFile = path.startsWith(join(cwd, name)) || (kind === 'name' && line.includes(name));
    const isFolder = path === cwd && kind === 'fsync';
    const word = isFolder ? 'fsync of the folder' : kind;
    if ((isFile || isFolder) && word !== calls.at(-1)) calls.push(word);
  }
  return calls;
}

for (const [command, expected] of [
  // SQLite syncs its copy too, as long as its setting `synchronous` says so.
  ['backup copy.db', 'write fsync close fsync close name fsync of the folder'],
  ['pets export pets.csv', 'write close fsync close name fsync of the folder'],
] as const) {
  test(`strace › ${command} › syncs the file between its last write and its name`, async () => {
    const calls = await traceFile(command.split(' '));
    assert.ok(calls.join(' ').endsWith(expected), calls.join(' '));
  });
}
