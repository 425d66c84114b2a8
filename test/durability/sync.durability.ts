/** By the system calls of the real program on SQLite: each 201 is sent after the sync of its own row, and backups and exports are on the disk before they have their names. */

import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { listChildren } from '../support/children.ts';
import { runProgram, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { createClient } from './client.ts';
import { createHistory } from './history.ts';

const CREATES = Number(process.env.TEST_CRASH_TRACED_CREATES ?? 10_000);
const CLIENTS = 64;
/** The last character separates a name from the bytes after it. */
const NAME = /pet \d+!/g;

/** With the files of their descriptors and whole pages. */
const STRACE = [
  ...['strace', '--follow-forks', '--seccomp-bpf', '--decode-fds=path', '--string-limit=16384'],
  '--trace=/^p?write,fsync,fdatasync,/^send,close,/^link,/^rename',
];

/** strace ends with the program that it runs. */
async function endTraced(strace: number | undefined): Promise<void> {
  const [pid] = await listChildren(strace);
  process.kill(Number(pid), 'SIGTERM');
}

async function createAll(port: number, key: string): Promise<void> {
  const history = createHistory();
  const client = createClient({ key, ports: [port] }, history);
  let count = 0;
  const running = Array.from({ length: CLIENTS }, async () => {
    while (count < CREATES) {
      count += 1;
      const create = client.plan(`pet ${count}!`);
      // Some creates are several statements, by an Idempotency-Key.
      assert.ok(await client.create(create, count % 10 === 0), create.name);
    }
  });
  await Promise.all(running);
  assert.deepEqual(history.wrong, []);
}

/** Reads a trace of one thread that writes and syncs the log, and of others that answer. */
async function readTrace(file: string) {
  const written = new Set<string>();
  const synced = new Set<string>();
  const answered = new Set<string>();
  const violations: string[] = [];
  let isLogSync = false;
  for await (const line of createInterface({ input: createReadStream(file, 'latin1') })) {
    const names = line.match(NAME) ?? [];
    const isLog = line.includes('-wal>');
    if (line.includes('sync(')) isLogSync = isLog;
    // Another call may come between its start and its end, which then has a line of its own.
    if (/sync(?:\(| resumed).*= 0$/.test(line) && isLogSync) {
      for (const row of written) synced.add(row);
      written.clear();
    } else if (isLog) {
      for (const row of names) written.add(row);
    } else if (line.includes('HTTP/1.1 201')) {
      // The start of the call: the answer may be on its way before the call returns.
      for (const row of names) {
        answered.add(row);
        if (!synced.has(row)) violations.push(`${row} was answered before it was on the disk`);
      }
    }
  }
  return { synced, answered, violations };
}

test(`strace › ${CREATES} creates by ${CLIENTS} clients › shows each 201 after the sync of its row`, async () => {
  const cwd = createProcessFolder();
  const file = join(cwd, 'trace');
  await using service = await startService(['--log-level', 'silent'], {
    cwd,
    within: [...STRACE, `--output=${file}`],
  });
  await createAll(service.port, service.key);
  await endTraced(service.process.pid);
  await service.finished;
  const { synced, answered, violations } = await readTrace(file);
  assert.deepEqual(violations, []);
  assert.deepEqual([synced.size, answered.size], [CREATES, CREATES]);
});

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
    within: [...STRACE, '--status=successful', `--output=${output}`],
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
