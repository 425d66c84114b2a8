/** What the crash tests need of a service: where it is, how to kill it, and what it has stored. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { createRandom } from '../../src/sample.ts';
import { exchange } from '../support/socket.ts';
import type { StoredPet } from './history.ts';

const READY_MS_MAX = 30_000;
const POLL_MS = 2;
const READY = 'GET /readyz HTTP/1.1\r\nHost: petstore\r\nConnection: close\r\n\r\n';

/** Printed, so that a run can be repeated, without the timing of the machine. */
export const SEED = Number(process.env.TEST_CRASH_SEED ?? randomInt(2 ** 31));

export type Random = ReturnType<typeof createRandom>;

/** The options of every service. */
export const SERVE = ['--log-level', 'silent'];

export interface Subject extends AsyncDisposable {
  readonly random: Random;
  readonly key: string;
  /** The ports of the service, all with the same pets; they may change when a process is restarted. */
  readonly ports: readonly number[];
  /** Kills processes; resolves to a function that restarts them and resolves to the time that it took. */
  strike(): Promise<() => Promise<Revival>>;
  /** The rows after that id, as the database has them. */
  readStored(after: number): Promise<StoredPet[]>;
  assertSound(): void;
}

export interface Revival {
  /** What was killed. */
  readonly struck: string;
  /** From the restart to the first good answer. */
  readonly readyMs: number;
}

export function toStoredPet({ id, name, status }: Record<string, unknown>): StoredPet {
  return { id: Number(id), name: String(name), ...(status !== null && { status: String(status) }) };
}

export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

export async function waitUntilReady(port: number): Promise<void> {
  const deadline = performance.now() + READY_MS_MAX;
  for (;;) {
    const answer = await Promise.race([
      // A connection of its own: an earlier one may lead to a process that is about to end.
      exchange(port, READY).catch(String),
      sleep(READY_MS_MAX, 'no answer', { ref: false }),
    ]);
    if (answer.startsWith('HTTP/1.1 200 ')) return;
    assert.ok(performance.now() < deadline, `not ready after ${READY_MS_MAX} ms: ${answer}`);
    await sleep(POLL_MS);
  }
}
