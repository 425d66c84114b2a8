/** The scenario that measures the latency of lists while pets are added. */

import { CLIENTS, startBaselineOf } from './compare.ts';
import { type LoadOptions, load } from './load.ts';
import { type Sample, takeTurns } from './measure.ts';
import type { Bench, Scenario } from './scenario.ts';
import { type Server, startPetstore } from './servers.ts';
import { create, listFirst, toLoad } from './workloads.ts';

const PETS = 20;
const CREATORS = 64;
/**
 * The pause between two creates of a client: 64 clients send about 3,000 a second. Without the pause creates
 * use the whole core, and lists wait for the core and not for the disk.
 */
const PAUSE_MS = 20;
/** The creates start before the lists and end after them. */
const MARGIN_MS = 250;

export const readsWhileCreates: Scenario = {
  name: 'reads-while-creates',
  title: `List: the latency that 99 % keep, alone and while ${CREATORS} clients create, each with a pause of ${PAUSE_MS} ms or with none`,
  unit: 'ms',
  thresholds: [{ of: 'petstore, creates', beside: 'petstore, alone', atMost: 2 }],
  run,
};

async function run({ datasets, pace }: Bench) {
  await using baseline = await startBaselineOf([listFirst, create], PETS, datasets);
  await using petstore = await startPetstore(await datasets.create(PETS));
  const creates: LoadOptions = { clients: CREATORS, path: '/pets', script: ['create.lua'] };
  const paused: LoadOptions = { ...creates, script: ['create.lua', String(PAUSE_MS)] };
  const contenders = Object.entries({ baseline, petstore }).flatMap(([name, server]) => {
    const lists = toLoad(listFirst, server, CLIENTS, datasets.folder);
    const rows = { alone: undefined, creates: paused, 'creates without a pause': creates };
    return Object.entries(rows).map(([row, beside]) => ({
      name: `${name}, ${row}`,
      measure: (seconds: number) => measureP99(server, { lists, beside }, seconds),
    }));
  });
  return await takeTurns(contenders, pace);
}

async function measureP99(
  server: Server,
  { lists, beside }: { readonly lists: LoadOptions; readonly beside: LoadOptions | undefined },
  seconds: number,
): Promise<Sample> {
  const creating = beside && load(server, beside, seconds + 1);
  await new Promise((resolve) => setTimeout(resolve, MARGIN_MS));
  const [{ p99Ms }] = await Promise.all([load(server, lists, seconds), creating]);
  return { ms: p99Ms };
}
