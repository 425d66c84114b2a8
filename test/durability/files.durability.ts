/** Backups and exports are on the disk before they have their names, by the system calls of the real program. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runProgram } from '../support/program.ts';
import { createFolder } from '../support/temporary-folder.ts';

const STRACE = [
  ...['strace', '--follow-forks', '--seccomp-bpf', '--decode-fds=path', '--status=successful'],
  '--trace=write,writev,pwrite64,fsync,fdatasync,close,link,linkat,rename,renameat,renameat2',
] as const;

const PETS = '{"name":"Rex","categoryId":1}\n'.repeat(5_000);

/** What the command did to the file and its folder, in its order: one word for each run of equal calls. */
async function traceFile(args: readonly string[], name: string): Promise<string[]> {
  await using folder = await createFolder();
  const cwd = folder.path;
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
    const word = isFile
      ? kind
      : path === cwd && kind === 'fsync'
        ? `${kind} of the folder`
        : undefined;
    if (word !== undefined && word !== calls.at(-1)) calls.push(word);
  }
  return calls;
}

for (const [args, name, expected] of [
  // SQLite syncs its copy too, as long as its setting `synchronous` says so.
  [
    ['backup', 'copy.db'],
    'copy.db',
    ['write', 'fsync', 'close', 'fsync', 'close', 'name', 'fsync of the folder'],
  ],
  [['pets', 'export', 'pets.csv'], 'pets.csv', ['write', 'fsync', 'close', 'name']],
] as const) {
  test(`strace › ${args.join(' ')} › syncs the file between its last write and its name`, async () => {
    assert.ok(
      spawnSync('strace', ['-V']).error === undefined,
      'strace is not here: install it (apt-get install strace)',
    );
    assert.deepEqual((await traceFile(args, name)).slice(-expected.length), expected);
  });
}
