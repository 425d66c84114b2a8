/** What the crash tests need of a service: where it is, how to kill it, and what it has stored. */

import { randomInt } from 'node:crypto';
import type { createRandom } from '../support/random.ts';
import { exchange } from '../support/socket.ts';
import { until, within } from '../support/until.ts';
import type { StoredPet } from './history.ts';

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
  /** Kills processes, and restarts them; resolves when all that serve are ready. */
  strike(): Promise<void>;
  /** The rows after that id, as the database has them. */
  readStored(after: number): Promise<StoredPet[]>;
  assertSound(): void;
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

/** Asks on a connection of its own: an earlier one may lead to a process that is about to end. */
export const waitUntilReady = (port: number) =>
  until(async () =>
    (await within(exchange(port, READY)).catch(String)).startsWith('HTTP/1.1 200 '),
  );
