/** A switchover of Debian's Patroni while a command is at work. */

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryOnce } from '../support/postgres-cluster.ts';
import { type RunningProgram, runProgram, startProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { type Event, type Scene, switchOver, toAddress, tryEvents } from './suite.ts';

const PETS = 50_000;
const [WORK_MS, REST_MS] = [50, 500];
const cwd = createProcessFolder();

/** A command, and what counts `PETS` when it is done. */
interface Work {
  readonly args: (address: string) => readonly string[];
  readonly sql: string;
}

const WORKS: Readonly<Record<string, Work>> = {
  import: {
    args: (address) => ['pets', 'import', 'pets.ndjson', '--database', address],
    sql: `select from pets where id > ${PETS}`,
  },
  'import --update': {
    args: (address) => ['pets', 'import', 'corrected.ndjson', '--update', '--database', address],
    sql: "select from pets where name = 'Mia'",
  },
};

const EVENTS: Record<string, Event> = {};
for (const [name, work] of Object.entries(WORKS)) {
  const commands: { args: readonly string[]; database: string; program?: RunningProgram }[] = [];
  EVENTS[`a switchover during ${name}`] = {
    async prepare(scene) {
      await makePets(scene);
      for (const way of scene.ways) {
        const database = `${way.name}_${name.replaceAll(/\W+/g, '_')}`;
        const create = `create database ${database} owner petstore template pets`;
        await queryOnce(scene.leader.url('postgres'), create);
        commands.push({ database, args: work.args(toAddress(way, database)) });
      }
    },
    async cause(scene) {
      let isOver = false;
      const starting = commands.map(async (command) => {
        command.program = startProgram(command.args, { cwd });
        await untilAtWork(scene, command.database);
        return { slowed: slowDown(command.program.process, () => isOver) };
      });
      const started = await Promise.all(starting);
      await switchOver(scene).finally(() => {
        isOver = true;
      });
      for (const { slowed } of started) await slowed;
    },
    isNew: true,
    async check({ findLeader }) {
      const { url } = await findLeader();
      for (const { args, database, program } of commands) {
        const count = async () => (await queryOnce(url(database), work.sql)).rowCount;
        const { status, stderr = '' } = (await program?.finished) ?? {};
        assert.equal(status, 1, stderr);
        assert.match(stderr, /^petstore: .+; nothing was \w+\n$/m);
        assert.equal(await count(), 0, stderr);
        await runCommand(...args);
        assert.equal(await count(), PETS, stderr);
      }
    },
  };
}

async function runCommand(...args: readonly string[]): Promise<void> {
  const { status, stderr } = await runProgram(args, { cwd });
  assert.equal(status, 0, stderr);
}

/** Makes the files, and the database `pets`; at the first call. */
async function makePets({ leader, ways: [way] }: Scene): Promise<void> {
  const url = leader.url('postgres');
  const made = await queryOnce(url, "select from pg_database where datname = 'pets'");
  if (made.rowCount !== 0 || way === undefined) return;
  const write = (file: string, toPet: (id: number) => object) => {
    const lines = Array.from({ length: PETS }, (_, index) => JSON.stringify(toPet(index + 1)));
    writeFileSync(join(cwd, file), lines.join('\n'));
  };
  write('pets.ndjson', () => ({ name: 'Rex', categoryId: 1 }));
  write('corrected.ndjson', (id) => ({ id, name: 'Mia', categoryId: 1 }));
  await queryOnce(url, 'create database pets owner petstore');
  await runCommand('pets', 'import', 'pets.ndjson', '--database', toAddress(way, 'pets'));
}

/** Resolves when the command reads or writes its pages. */
async function untilAtWork({ nodes }: Scene, database: string): Promise<void> {
  const sessions = `select from pg_stat_activity where datname = '${database}'
    and query ~ 'limit 1000|insert into staged_pets'`;
  await until(async () => {
    const asking = nodes.map(({ url }) => queryOnce(url('postgres'), sessions));
    return (await Promise.all(asking)).some(({ rowCount }) => rowCount !== 0);
  });
}

/** Lets it work for a moment now and then: the server ends the transaction of a command that is silent for 10 s. */
async function slowDown(child: ChildProcess, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    child.kill('SIGSTOP');
    await sleep(REST_MS);
    child.kill('SIGCONT');
    await sleep(WORK_MS);
  }
}

tryEvents(EVENTS);
