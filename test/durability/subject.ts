/** The services of the crash tests: where they are, how to kill them, and what they have stored. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import * as petstore from '../outages/petstore.ts';
import { listChildren } from '../support/children.ts';
import { createDice } from '../support/dice.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import { type RunningProgram, startProgram, startService } from '../support/program.ts';
import { exchange } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';
import type { StoredPet } from './history.ts';

const READY = 'GET /readyz HTTP/1.1\r\nHost: petstore\r\nConnection: close\r\n\r\n';

/** Printed, so that a run can be repeated, without the timing of the machine. */
export const SEED = Number(process.env.TEST_CRASH_SEED ?? randomInt(2 ** 31));

/** Of all random choices. */
export const dice = createDice(SEED);

/** The options of every service. */
const SERVE = ['--log-level', 'silent'];

export interface Subject extends AsyncDisposable {
  readonly key: string;
  /** The ports of the service, all with the same pets; they may change when a process is restarted. */
  readonly ports: readonly number[];
  /** Kills processes, and restarts them; resolves when all that serve are ready. */
  strike(): Promise<void>;
  /** The rows after that id, as the database has them. */
  readStored(after: number): Promise<StoredPet[]>;
  assertSound(): void;
}

function toStoredPet({ id, name }: Record<string, unknown>): StoredPet {
  return { id: Number(id), name: String(name) };
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

/** Asks on a connection of its own: an earlier one may lead to a process that is about to end. */
const waitUntilReady = (port: number) =>
  until(async () =>
    (await within(exchange(port, READY)).catch(String)).startsWith('HTTP/1.1 200 '),
  );

/** Within this time some starts are killed too. */
const KILLED_START_MS_MAX = 400;

/** One service on a file, whose main process or, of several, one worker is killed. */
export async function startOnSqlite(workers: number): Promise<Subject> {
  const cwd = createProcessFolder();
  const file = join(cwd, 'petstore.db');
  const args = [...SERVE, '--workers', String(workers)];
  let service = await startService(args, { cwd });
  const { key, port } = service;
  // The clients find it again where it was.
  const again = [...args, '--port', String(port)];

  async function startAgain(): Promise<void> {
    if (dice.onceIn(8)) {
      const program = startProgram(['serve', ...again], { cwd });
      await sleep(dice.below(KILLED_START_MS_MAX));
      killWith(program, await listChildren(program.process.pid));
      await program.finished;
    }
    service = await startService(again, { cwd });
    await waitUntilReady(port);
  }

  return {
    key,
    ports: [port],
    async strike() {
      const children = await listChildren(service.process.pid);
      if (children.length > 1 && dice.onceIn(2)) {
        killAll([dice.pick(children)]);
        return waitUntilReady(port);
      }
      // Workers whose main process is gone come to their end by themselves.
      killWith(service, dice.onceIn(2) ? [] : children);
      await startAgain();
    },
    readStored: async (after) => readRows(file, after),
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
export function readRows(file: string, after = 0): StoredPet[] {
  using connection = new DatabaseSync(file, { readOnly: true });
  const sql = 'select id, name from pets where id > ? order by id';
  return connection.prepare(sql).all(after).map(toStoredPet);
}

export function assertSound(file: string): void {
  using connection = new DatabaseSync(file, { readOnly: true });
  const found = connection.prepare('pragma integrity_check').all();
  assert.deepEqual(Object.values(found[0] ?? {}), ['ok']);
}

/** Services on a durable server; the server is killed or, of several services, one of them. */
export async function startOnPostgres(replicas: number): Promise<Subject> {
  const cluster = await petstore.startDatabase();
  const address = petstore.toAddress([petstore.toHost(cluster)]);
  const start = () => petstore.startReplica(address, SERVE);
  const first = await start();
  const services = [first];
  while (services.length < replicas) services.push(await start());

  return {
    key: first.key,
    get ports() {
      return services.map(({ port }) => port);
    },
    async strike() {
      const replica = dice.below(replicas);
      if (replicas > 1 && dice.onceIn(2)) {
        services[replica]?.process.kill('SIGKILL');
        services[replica] = await start();
      } else {
        const children = await listChildren(cluster.pid);
        // The parent first, so that it does not start a recovery.
        const stopped = cluster.stop('SIGKILL');
        // A process that is only stopped would answer first.
        if (dice.onceIn(2)) killAll(children);
        await stopped;
        await cluster.start();
      }
      await Promise.all(services.map(({ port }) => waitUntilReady(port)));
    },
    async readStored(after) {
      const sql = `select id, name from pets where id > ${after} order by id`;
      const { rows } = await queryOnce(cluster.url('petstore'), sql);
      return rows.map(toStoredPet);
    },
    assertSound() {
      for (const { process, output } of services) {
        assert.equal(process.exitCode ?? process.signalCode, null, output.stderr);
      }
    },
    async [Symbol.asyncDispose]() {
      for (const service of services) await service[Symbol.asyncDispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
}
