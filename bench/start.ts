/** Works of one service by itself: how long it takes to start, and how much memory it takes. */

import { CLIENTS } from './compare.ts';
import { load } from './load.ts';
import { takeTurns } from './measure.ts';
import type { Bench, Work } from './scenario.ts';
import { readMemoryMiB, startPetstore } from './servers.ts';
import { create, getAnywhere, listAnywhere, toLoad } from './workloads.ts';

const START_MS_MAX = 1_000;
const MEMORY_MIB_MAX = 150;

/** From the start of the process to the first 200 of /readyz. */
export function toStart(animals: number): Work {
  return {
    name: 'start',
    title: `Start with ${animals.toLocaleString('en')} animals`,
    unit: 'ms',
    bars: [{ of: 'petstore', atMost: START_MS_MAX }],
    async run({ stores, pace }) {
      const store = await stores.create(animals);
      const measure = async () => {
        await using server = await startPetstore(store);
        return server.startMs;
      };
      return await takeTurns([{ name: 'petstore', measure }], pace);
    },
  };
}

export function toMemory(animals: number): Work {
  return {
    name: 'memory',
    title: `Resident memory with ${animals.toLocaleString('en')} animals`,
    unit: 'MiB',
    // Under load Node's collector takes what it finds; the table shows where it ends.
    bars: [{ of: 'after the start', atMost: MEMORY_MIB_MAX }],
    run: (bench) => runMemory(animals, bench),
  };
}

async function runMemory(animals: number, { stores, pace }: Bench) {
  const figures = { 'after the start': [], 'after load': [], 'the most': [] } as {
    [name in 'after the start' | 'after load' | 'the most']: number[];
  };
  for (let round = 0; round < pace.rounds; round += 1) {
    await using server = await startPetstore(await stores.create(animals));
    figures['after the start'].push(readMemoryMiB(server, 'VmRSS'));
    for (const question of [listAnywhere(animals), getAnywhere(animals), create]) {
      await load(server, toLoad(question, server, CLIENTS, stores.folder), pace.seconds);
    }
    figures['after load'].push(readMemoryMiB(server, 'VmRSS'));
    figures['the most'].push(readMemoryMiB(server, 'VmHWM'));
  }
  return figures;
}
