/**
 * Scenarios in which the service gets the same requests with few pets and with many. Another process keeps
 * committing to both files. Otherwise the page cache holds all pages of few pets: a cached page would be
 * compared with a page that is read.
 */

import { measureEach } from './compare.ts';
import type { Scenario } from './scenario.ts';
import type { Workload } from './workloads.ts';

const FEW = 1_000;
/** The most time that an answer may take, as a share of the time with few pets. */
const TIME_RATIO_MAX = 1.26;

export interface Growth {
  readonly name: string;
  readonly title: string;
  readonly many: number;
  readonly toWorkload: (pets: number) => Workload;
}

export function grow({ name, title, many, toWorkload }: Growth): Scenario {
  const entrants = [FEW, many].map((pets) => ({
    name: describe(pets),
    kind: 'petstore' as const,
    pets,
    workload: toWorkload(pets),
  }));
  return {
    name,
    title,
    unit: 'CPU µs/request',
    thresholds: [{ of: describe(many), beside: describe(FEW), atMost: TIME_RATIO_MAX }],
    run: (bench) => measureEach(entrants, { isWritten: true }, bench),
  };
}

function describe(pets: number): string {
  return `${pets.toLocaleString('en')} pets`;
}
