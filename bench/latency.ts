/** The work that looks at how long lists take while animals are added. */

import { CLIENTS, startLimitOf } from './compare.ts';
import { type Load, load } from './load.ts';
import { takeTurns } from './measure.ts';
import type { Bench, Work } from './scenario.ts';
import { type Server, startPetstore } from './servers.ts';
import { create, listFirst, toLoad } from './workloads.ts';

const ANIMALS = 20;
const CREATORS = 64;
/**
 * Between two creates of a client: 64 of them then ask for some 3,000 a second. Without it their
 * work alone would fill the core, and lists would wait for the core and not for the disk.
 */
const PAUSE_MS = 20;
/** The creates start before the lists and end after them. */
const MARGIN_MS = 250;

export const readsWhileCreates: Work = {
  name: 'reads-while-creates',
  title: `List: the latency that 99 % keep, alone and while ${CREATORS} clients create, each with a pause of ${PAUSE_MS} ms or with none`,
  unit: 'ms',
  bars: [{ of: 'petstore, creates', beside: 'petstore, alone', atMost: 2 }],
  run,
};

async function run({ stores, pace }: Bench) {
  await using limit = await startLimitOf([listFirst, create], ANIMALS, stores);
  await using petstore = await startPetstore(await stores.create(ANIMALS));
  const creates: Load = { clients: CREATORS, path: '/pets', script: ['create.lua'] };
  const paused: Load = { ...creates, script: ['create.lua', String(PAUSE_MS)] };
  const contenders = Object.entries({ limit, petstore }).flatMap(([name, server]) => {
    const lists = toLoad(listFirst, server, CLIENTS, stores.folder);
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
  { lists, beside }: { readonly lists: Load; readonly beside: Load | undefined },
  seconds: number,
): Promise<number> {
  const creating = beside && load(server, beside, seconds + 1);
  await new Promise((resolve) => setTimeout(resolve, MARGIN_MS));
  const [{ p99Ms }] = await Promise.all([load(server, lists, seconds), creating]);
  return p99Ms;
}
