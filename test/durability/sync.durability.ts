/** Each 201 is sent after the sync of its own row, by the system calls of the real program on SQLite. */

import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { listChildren } from '../support/children.ts';
import { startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { createClient } from './client.ts';
import { createHistory } from './history.ts';

const CREATES = Number(process.env.TEST_CRASH_TRACED_CREATES ?? 10_000);
const CLIENTS = 64;
/** The last character separates a name from the bytes after it. */
const NAME = /pet \d+!/g;

/** The system calls that are needed, with the files of their descriptors and whole pages. */
const STRACE = [
  ...['strace', '--follow-forks', '--seccomp-bpf', '--decode-fds=path', '--string-limit=16384'],
  '--trace=write,writev,pwrite64,pwritev,fsync,fdatasync,sendto,sendmsg,sendmmsg',
];

/** strace ends with the program that it runs. */
async function endTraced(strace: number | undefined): Promise<void> {
  const [pid] = await listChildren(strace);
  process.kill(Number(pid), 'SIGTERM');
}

async function createAll(port: number, key: string): Promise<void> {
  const wrong: string[] = [];
  const target = { random: () => 0, key, ports: [port] };
  const client = createClient(target, createHistory(), wrong);
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
  assert.deepEqual(wrong, []);
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
