/** Works in which the service on PostgreSQL stands beside its own queries through the bare driver. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CLIENTS } from './compare.ts';
import { load } from './load.ts';
import { takeTurns } from './measure.ts';
import type { Work } from './scenario.ts';
import { program, SERVER_CORE, startPetstore } from './servers.ts';
import { check, getAnywhere, listPages, toLoad } from './workloads.ts';

const ANIMALS = 1_000;
const QUESTIONS = { list: listPages(ANIMALS), get: getAnywhere(ANIMALS) };

export function besideDriver(kind: keyof typeof QUESTIONS, title: string): Work {
  return {
    name: `postgres-${kind}`,
    title,
    unit: 'requests/s',
    bars: [{ of: 'petstore on PostgreSQL', beside: 'driver', atLeast: 0.6 }],
    async run({ stores, pace }) {
      const store = await stores.createInPostgres(ANIMALS);
      await using server = await startPetstore(store);
      const question = QUESTIONS[kind];
      await check(question, server);
      const asked = toLoad(question, server, CLIENTS, stores.folder);
      const contenders = [
        { name: 'driver', measure: (seconds: number) => runDriver(store.address, kind, seconds) },
        {
          name: 'petstore on PostgreSQL',
          measure: async (seconds: number) => (await load(server, asked, seconds)).perSecond,
        },
      ];
      return await takeTurns(contenders, pace);
    },
  };
}

async function runDriver(address: string, kind: string, seconds: number): Promise<number> {
  const args = [program('driver'), address, kind, String(seconds), String(ANIMALS)];
  const command = ['-c', SERVER_CORE, process.execPath, ...args];
  const { stdout } = await promisify(execFile)('taskset', command);
  return Number(stdout);
}
