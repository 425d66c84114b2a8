/** A service on SQLite whose processes can be killed. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { listChildren } from '../support/children.ts';
import { type RunningProgram, startProgram, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
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
  const cwd = createProcessFolder();
  const file = join(cwd, 'petstore.db');
  const args = [...SERVE, '--workers', String(workers)];
  let service = await startService(args, { cwd });
  const { key, port } = service;
  // The clients find it again where it was.
  const again = [...args, '--port', String(port)];

  async function startAgain(): Promise<void> {
    if (random() < KILLED_STARTS) {
      const program = startProgram(['serve', ...again], { cwd });
      await sleep(random() * KILLED_START_MS_MAX);
      killWith(program, await listChildren(program.process.pid));
      await program.finished;
    }
    service = await startService(again, { cwd });
    await waitUntilReady(port);
  }

  return {
    random,
    key,
    ports: [port],
    async strike() {
      const children = await listChildren(service.process.pid);
      const chance = random();
      if (children.length > 1 && chance < 1 / 2) {
        const place = Math.floor(random() * children.length);
        killAll(children.slice(place, place + 1));
        return waitUntilReady(port);
      }
      // Workers whose main process is gone come to their end by themselves.
      killWith(service, chance < 3 / 4 ? [] : children);
      await startAgain();
    },
    readStored: async (after) => readFile(file, after),
    assertSound: () => assertSound(file),
    async [Symbol.asyncDispose]() {
      killWith(service, await listChildren(service.process.pid));
      await service.finished;
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
  using connection = new DatabaseSync(file, { readOnly: true });
  const sql = 'select id, name, status from pets where id > ? order by id';
  return connection.prepare(sql).all(after).map(toStoredPet);
}

export function assertSound(file: string): void {
  using connection = new DatabaseSync(file, { readOnly: true });
  const found = connection.prepare('pragma integrity_check').all();
  assert.deepEqual(Object.values(found[0] ?? {}), ['ok']);
}
