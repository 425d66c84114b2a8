/** Scenarios of the service alone: the time of its start, and its memory. */

import { CLIENTS } from './compare.ts';
import { load } from './load.ts';
import { type Sample, takeTurns } from './measure.ts';
import type { Bench, Scenario } from './scenario.ts';
import { readMemoryMiB, startPetstore } from './servers.ts';
import { create, getAnywhere, listAnywhere, toLoad } from './workloads.ts';

const START_MS_MAX = 1_000;
const MEMORY_MIB_MAX = { 'after the start': 150, 'after load': 210 };

/** From the start of the process to the first 200 of /readyz. */
export function toStart(pets: number): Scenario {
  return {
    name: 'start',
    title: `Start with ${pets.toLocaleString('en')} pets`,
    unit: 'ms',
    thresholds: [{ of: 'petstore', atMost: START_MS_MAX }],
    async run({ datasets, pace }) {
      const dataset = await datasets.create(pets);
      const measure = async () => {
        await using server = await startPetstore(dataset);
        return { ms: server.startMs };
      };
      return await takeTurns([{ name: 'petstore', measure }], pace);
    },
  };
}

export function toMemory(pets: number): Scenario {
  return {
    name: 'memory',
    title: `Resident memory with ${pets.toLocaleString('en')} pets`,
    unit: 'MiB',
    thresholds: Object.entries(MEMORY_MIB_MAX).map(([of, atMost]) => ({ of, atMost })),
    run: (bench) => runMemory(pets, bench),
  };
}

async function runMemory(pets: number, { datasets, pace }: Bench) {
  const figures: Record<string, Sample[]> = { 'after the start': [], 'after load': [] };
  for (let round = 0; round < pace.rounds; round += 1) {
    await using server = await startPetstore(await datasets.create(pets));
    for (const workload of [listAnywhere(pets), getAnywhere(pets), create]) {
      await load(server, toLoad(workload, server, CLIENTS, datasets.folder), pace.seconds);
    }
    figures['after the start']?.push({ MiB: server.startMiB });
    figures['after load']?.push({ MiB: readMemoryMiB(server) });
  }
  return figures;
}
