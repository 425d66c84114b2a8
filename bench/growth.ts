/** Scenarios in which the service gets the same requests with few pets and with many. */

import { CLIENTS } from './compare.ts';
import { load } from './load.ts';
import { type Contender, takeTurns } from './measure.ts';
import type { Bench, Scenario } from './scenario.ts';
import { program, startBesideLoad, startPetstore } from './servers.ts';
import { check, toLoad, type Workload } from './workloads.ts';

const FEW = 1_000;
/** The most time that an answer may take, as a share of the time with few pets. */
const TIME_RATIO_MAX = 1.2;

export interface Growth {
  readonly name: string;
  readonly title: string;
  readonly many: number;
  readonly toWorkload: (pets: number) => Workload;
  /**
   * Whether another process keeps committing to both files. Otherwise the page cache holds all pages of few
   * pets: a cached page would be compared with a page that is read.
   */
  readonly isWritten?: boolean;
}

export function grow(growth: Growth): Scenario {
  return {
    name: growth.name,
    title: growth.title,
    unit: 'CPU µs/request',
    thresholds: [{ of: describe(growth.many), beside: describe(FEW), atMost: TIME_RATIO_MAX }],
    run: (bench) => run(growth, bench),
  };
}

async function run({ many, toWorkload, isWritten }: Growth, { datasets, pace }: Bench) {
  await using stack = new AsyncDisposableStack();
  const files: string[] = [];
  const contenders: Contender[] = [];
  for (const pets of [FEW, many]) {
    const { file, ...dataset } = await datasets.create(pets);
    const server = stack.use(await startPetstore({ file, ...dataset }));
    const workload = toWorkload(pets);
    await check(workload, server);
    files.push(file);
    const asked = toLoad(workload, server, CLIENTS, datasets.folder);
    contenders.push({
      name: describe(pets),
      measure: async (seconds) => (await load(server, asked, seconds)).sample,
    });
  }
  if (isWritten) stack.use(startBesideLoad([program('writer'), ...files]));
  return await takeTurns(contenders, pace);
}

function describe(pets: number): string {
  return `${pets.toLocaleString('en')} pets`;
}
