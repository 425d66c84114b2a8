/** A service on SQLite whose processes can be killed. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { listChildren } from '../support/children.ts';
import { type RunningProgram, startProgram, startService } from '../support/program.ts';
import { createFolder } from '../support/temporary-folder.ts';
import type { StoredPet } from './history.ts';
import {
  killAll,
  type Random,
  SERVE,
  type Subject,
  toStoredPet,
  waitUntilReady,
} from './subject.ts';

/** So often a start is killed too, within this time. */
const KILLED_STARTS = 1 / 8;
const KILLED_START_MS_MAX = 400;

/** One service on a file, whose main process or, of several, one worker is killed. */
export async function startOnSqlite(workers: number, random: Random): Promise<Subject> {
  const folder = await createFolder();
  const cwd = folder.path;
  const file = join(cwd, 'petstore.db');
  const args = [...SERVE, '--workers', String(workers)];
  const first = await startService(args, { cwd });
  const { key, port } = first;
  await first[Symbol.asyncDispose]();
  // From now on the clients find it where it was.
  const again = [...args, '--port', String(port)];
  let service = await startService(again, { cwd });

  async function startAgain(): Promise<number> {
    if (random() < KILLED_STARTS) {
      const program = startProgram(['serve', ...again], { cwd });
      await sleep(random() * KILLED_START_MS_MAX);
      killWith(program, await listChildren(program.process.pid));
      await program.finished;
    }
    const startedAt = performance.now();
    // The first answer may come before the last worker is there, and is what counts.
    const readyMs = waitUntilReady(port).then(() => performance.now() - startedAt);
    const [started] = await Promise.allSettled([startService(again, { cwd }), readyMs]);
    if (started.status === 'rejected') throw started.reason;
    // Also one that is not ready in time, so that it is ended.
    service = started.value;
    return readyMs;
  }

  return {
    random,
    key,
    ports: [port],
    async strike() {
      const children = await listChildren(service.process.pid);
      const chance = random();
      if (children.length > 1 && chance < 1 / 2) {
        const struckAt = performance.now();
        const place = Math.floor(random() * children.length);
        killAll(children.slice(place, place + 1));
        return async () => {
          await waitUntilReady(port);
          return { struck: 'a worker', readyMs: performance.now() - struckAt };
        };
      }
      // Workers whose main process is gone come to their end by themselves.
      const struck = chance < 3 / 4 ? 'the main process' : 'all processes';
      if (struck === 'all processes') killWith(service, children);
      else service.process.kill('SIGKILL');
      return async () => ({ struck, readyMs: await startAgain() });
    },
    readStored: async (after) => readFile(file, after),
    assertSound: () => assertSound(file),
    async [Symbol.asyncDispose]() {
      killWith(service, await listChildren(service.process.pid));
      await service.finished;
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The main process first, so that it does not replace the others. */
function killWith(program: RunningProgram, children: readonly number[]): void {
  program.process.kill('SIGKILL');
  killAll(children);
}

/** Reads the rows of a file of SQLite that others may be writing to. */
export function readFile(file: string, after = 0): StoredPet[] {
  return withFile(file, (connection) =>
    connection
      .prepare('select id, name, status from pets where id > ? order by id')
      .all(after)
      .map(toStoredPet),
  );
}

export function assertSound(file: string): void {
  const { integrity_check: found } = withFile(file, (connection) => ({
    ...connection.prepare('pragma integrity_check').get(),
  }));
  assert.equal(found, 'ok');
}

function withFile<T>(file: string, work: (connection: DatabaseSync) => T): T {
  const connection = new DatabaseSync(file, { readOnly: true });
  try {
    return work(connection);
  } finally {
    connection.close();
  }
}
