/** Scenarios that compare the service on PostgreSQL with its own queries through the bare driver. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CLIENTS } from './compare.ts';
import { load } from './load.ts';
import { type Sample, takeTurns } from './measure.ts';
import type { Scenario } from './scenario.ts';
import { program, SERVER_CORE, startPetstore } from './servers.ts';
import { check, getAnywhere, listPages, toLoad } from './workloads.ts';

const PETS = 1_000;
const WORKLOADS = { list: listPages(PETS), get: getAnywhere(PETS) };

export function besideDriver(kind: keyof typeof WORKLOADS, title: string): Scenario {
  return {
    name: `postgres-${kind}`,
    title,
    unit: 'CPU µs/request',
    thresholds: [{ of: 'driver', beside: 'petstore on PostgreSQL', atLeast: 0.6 }],
    async run({ datasets, pace }) {
      const dataset = await datasets.createInPostgres(PETS);
      await using server = await startPetstore(dataset);
      const workload = WORKLOADS[kind];
      await check(workload, server);
      const asked = toLoad(workload, server, CLIENTS, datasets.folder);
      const contenders = [
        { name: 'driver', measure: (seconds: number) => runDriver(dataset.address, kind, seconds) },
        {
          name: 'petstore on PostgreSQL',
          measure: async (seconds: number) => (await load(server, asked, seconds)).sample,
        },
      ];
      return await takeTurns(contenders, pace);
    },
  };
}

async function runDriver(address: string, kind: string, seconds: number): Promise<Sample> {
  const args = [program('driver'), address, kind, String(seconds), String(PETS)];
  const command = ['-c', SERVER_CORE, process.execPath, ...args];
  const { stdout } = await promisify(execFile)('taskset', command);
  return JSON.parse(stdout);
}
