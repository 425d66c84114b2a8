/** A switchover of Debian's Patroni while a command is at work. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryOnce } from '../support/postgres-cluster.ts';
import { importing, type RunningProgram, runProgram, startProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { type Event, type Scene, switchOver, toAddress, tryEvents, type Way } from './suite.ts';

const PETS = 50_000;
/** The server ends the transaction of a command that is silent for 10 s. */
const PAGE_MS = 2_000;
const SOON_MS = 10;
const cwd = createProcessFolder();

/** Variables by which a command stops itself at each page of pets. */
const STOPPING = importing(`
  import pg from '${import.meta.resolve('pg')}';
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (...args) {
    if (/limit 1000$|insert into staged_pets/.test(args[0].text)) process.kill(process.pid, 'SIGSTOP');
    return query.apply(this, args);
  };
`);

/** A command of a way and its database, which is a copy of that template, and what counts `PETS` when it is done. */
interface Work {
  readonly args: (way: Way, database: string) => readonly string[];
  readonly template?: string;
  readonly count: string | ((database: string) => number);
  /** Whether it may go on, on a standby. */
  readonly onlyReads?: boolean;
}

const WORKS: Readonly<Record<string, Work>> = {
  import: {
    args: (...to) => ['pets', 'import', 'pets.ndjson', '--database', toAddress(...to)],
    count: `select from pets where id > ${PETS}`,
  },
  'import --update': {
    args: (...to) => ['pets', 'import', 'new.ndjson', '--update', '--database', toAddress(...to)],
    count: "select from pets where name = 'Mia'",
  },
  copy: {
    args: (way, to) => ['copy', '--from', toAddress(way, 'pets'), '--to', toAddress(way, to)],
    template: 'template1',
    count: 'select from pets',
  },
  backup: {
    args: (way, from) => ['backup', '--keep', '1', from, '--database', toAddress(way, from)],
    count: countBackup,
    onlyReads: true,
  },
};

const EVENTS: Record<string, Event> = {};
for (const [name, { args, template = 'pets', count, onlyReads }] of Object.entries(WORKS)) {
  const commands: { args: readonly string[]; database: string; program?: RunningProgram }[] = [];
  EVENTS[`a switchover during ${name}`] = {
    async prepare(scene) {
      await makePets(scene);
      for (const way of scene.ways) {
        const database = `${way.name}_${name.replaceAll(/\W+/g, '_')}`;
        const create = `create database ${database} owner petstore template ${template}`;
        await queryOnce(scene.leader.url('postgres'), create);
        await untilOnAll(scene, database);
        commands.push({ database, args: args(way, database) });
      }
    },
    async cause(scene) {
      let isOver = false;
      const starting = commands.map(async (command) => {
        command.program = startProgram(command.args, { cwd, env: STOPPING });
        await goOn(command.program, () => isOver);
      });
      await Promise.all(starting);
      await switchOver(scene).finally(() => {
        isOver = true;
      });
    },
    isNew: true,
    async check({ findLeader }) {
      const { url } = await findLeader();
      for (const { args, database, program } of commands) {
        const countDone = async () =>
          typeof count === 'string'
            ? (await queryOnce(url(database), count)).rowCount
            : count(database);
        const { status, stderr = '' } = (await program?.finished) ?? {};
        const isDone = onlyReads && status === 0;
        assert.equal(status, isDone ? 0 : 1, stderr);
        assert.match(stderr, isDone ? /^The store is/ : /^petstore: .+; nothing was \w+\n$/m);
        assert.equal(await countDone(), isDone ? PETS : 0, stderr);
        await runCommand(...args);
        assert.equal(await countDone(), PETS, stderr);
      }
    },
  };
}

async function runCommand(...args: readonly string[]): Promise<void> {
  const { status, stderr } = await runProgram(args, { cwd });
  assert.equal(status, 0, stderr);
}

/** The pets in the backups of that folder. */
function countBackup(folder: string): number {
  const files = existsSync(join(cwd, folder)) ? readdirSync(join(cwd, folder)) : [];
  const counts = files.map((file) => {
    using backup = new DatabaseSync(join(cwd, folder, file), { readOnly: true });
    return Number(backup.prepare('select count(*) as count from pets').get()?.count);
  });
  return counts.reduce((sum, pets) => sum + pets, 0);
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
  write('new.ndjson', (id) => ({ id, name: 'Mia', categoryId: 1 }));
  await queryOnce(url, 'create database pets owner petstore');
  await runCommand('pets', 'import', 'pets.ndjson', '--database', toAddress(way, 'pets'));
}

/** Resolves when each node has the database: a command that only reads may ask any node. */
function untilOnAll({ nodes }: Scene, database: string): Promise<void> {
  return until(async () => {
    const asked = await Promise.allSettled(nodes.map(({ url }) => queryOnce(url(database), '')));
    return asked.every(({ status }) => status === 'fulfilled');
  });
}

/** Resolves when the command has stopped itself. It goes on page by page: slowly, until it is over. */
async function goOn({ process: child }: RunningProgram, isOver: () => boolean): Promise<void> {
  await until(() => /^State:\tT/m.test(readFileSync(`/proc/${child.pid}/status`, 'utf8')));
  const pass = async () => {
    while (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGCONT');
      await sleep(isOver() ? SOON_MS : PAGE_MS);
    }
  };
  // The check awaits the end of the command.
  pass();
}

tryEvents(EVENTS);
