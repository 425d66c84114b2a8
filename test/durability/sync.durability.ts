/** Each 201 is sent after the sync of its own row, by the system calls of the real program on SQLite. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { listChildren } from '../support/children.ts';
import { startService } from '../support/program.ts';
import { createFolder } from '../support/temporary-folder.ts';
import { createClient } from './client.ts';
import { createHistory } from './history.ts';
import { readTrace, STRACE } from './trace.ts';

const CREATES = Number(process.env.TEST_CRASH_TRACED_CREATES ?? 10_000);
const CLIENTS = 64;
/** The last character separates a name from the bytes after it. */
const NAME = /pet \d+!/g;

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

test(`strace › ${CREATES} creates by ${CLIENTS} clients › shows each 201 after the sync of its row`, async (t) => {
  assert.ok(
    spawnSync('strace', ['-V']).error === undefined,
    'strace is not here: install it (apt-get install strace)',
  );
  await using folder = await createFolder();
  const cwd = folder.path;
  const file = join(cwd, 'trace');
  await using service = await startService(['--log-level', 'silent'], {
    cwd,
    within: [...STRACE, `--output=${file}`],
  });
  await createAll(service.port, service.key);
  await endTraced(service.process.pid);
  await service.finished;
  const { rows, answers, syncs, usefulSyncs, violations } = await readTrace(file, NAME);
  t.diagnostic(
    `${answers} answers, ${rows} rows in the log, ${usefulSyncs} syncs with rows of ${syncs} syncs of the log: ${(rows / usefulSyncs).toFixed(1)} creates shared one on average`,
  );
  assert.deepEqual(violations, []);
  assert.equal(rows, CREATES);
  assert.equal(answers, CREATES);
});
