/** Works in which the service is asked the same with few animals and with many. */

import { CLIENTS } from './compare.ts';
import { load } from './load.ts';
import { type Contender, takeTurns } from './measure.ts';
import type { Bench, Work } from './scenario.ts';
import { program, startBesideLoad, startPetstore } from './servers.ts';
import { check, type Question, toLoad } from './workloads.ts';

const FEW = 1_000;
/** The most time that an answer takes, of that with few. */
const TIME_RATIO_MAX = 1.2;

export interface Growth {
  readonly name: string;
  readonly title: string;
  readonly many: number;
  readonly toQuestion: (animals: number) => Question;
  /**
   * Whether another process commits to both files all the time. All pages of few animals fit in
   * the memory, so without it a kept page would be compared with one that is read.
   */
  readonly isWritten?: boolean;
}

export function grow(growth: Growth): Work {
  return {
    name: growth.name,
    title: growth.title,
    unit: 'requests/s',
    // So many times as many requests are so many times the time of one.
    bars: [{ of: describe(FEW), beside: describe(growth.many), atMost: TIME_RATIO_MAX }],
    run: (bench) => run(growth, bench),
  };
}

async function run({ many, toQuestion, isWritten }: Growth, { stores, pace }: Bench) {
  await using stack = new AsyncDisposableStack();
  const files: string[] = [];
  const contenders: Contender[] = [];
  for (const animals of [FEW, many]) {
    const { file, ...store } = await stores.create(animals);
    const server = stack.use(await startPetstore({ file, ...store }));
    const question = toQuestion(animals);
    await check(question, server);
    files.push(file);
    const asked = toLoad(question, server, CLIENTS, stores.folder);
    contenders.push({
      name: describe(animals),
      measure: async (seconds) => (await load(server, asked, seconds)).perSecond,
    });
  }
  if (isWritten) stack.use(startBesideLoad([program('writer'), ...files]));
  return await takeTurns(contenders, pace);
}

function describe(animals: number): string {
  return `${animals.toLocaleString('en')} animals`;
}
