/** The table of all scenarios, with their thresholds. */

import { type Comparison, compare } from './compare.ts';
import { grow } from './growth.ts';
import { readsWhileCreates } from './latency.ts';
import { besideDriver } from './postgres.ts';
import type { Scenario } from './scenario.ts';
import { toMemory, toStart } from './start.ts';
import { create, getAnywhere, listAnywhere, listFirst, listPages } from './workloads.ts';
import { keyedCreates, listsBesideCreates } from './writes.ts';

const SOME = 10_000;
const SERVICES = ['baseline', 'petstore', 'petstore on PostgreSQL', 'naive'] as const;

const COMPARISONS: readonly Comparison[] = [
  {
    name: 'list',
    title: 'List of 20, again and again',
    pets: 20,
    workload: listFirst,
    servers: [...SERVICES, 'Fastify', 'Express', 'json-server', 'Prism'],
    thresholds: [
      { of: 'petstore', beside: 'baseline', atLeast: 0.65 },
      { of: 'petstore', beside: 'Fastify', atLeast: 0.8 },
      { of: 'petstore', beside: 'Express', atLeast: 1.8 },
      { of: 'petstore', beside: 'json-server', atLeast: 5 },
      { of: 'petstore', beside: 'Prism', atLeast: 20 },
    ],
  },
  // No page is in the cache: each request is for another page than the 499 before it, and another
  // process commits about once per answer, after which SQLite's own page cache is stale too. Writes
  // through the service instead would measure creates. The baseline gets the same requests, while
  // the other process takes its share of the load's core.
  {
    name: 'list-after-write',
    title: 'List of 20 right after a write',
    pets: SOME,
    workload: listPages(SOME),
    servers: ['baseline', 'petstore', 'naive'],
    isWritten: true,
    thresholds: [{ of: 'petstore', beside: 'baseline', atLeast: 0.35 }],
  },
  {
    name: 'get',
    title: 'Get, of many pets',
    pets: SOME,
    workload: getAnywhere(SOME),
    servers: SERVICES,
    thresholds: [{ of: 'petstore', beside: 'baseline', atLeast: 0.55 }],
  },
  ...[1, 8, 64, 256].map((clients) => ({
    name: `create-${clients}`,
    title: `Create, on the disk before the answer; clients: ${clients}`,
    pets: 20,
    workload: create,
    servers: SERVICES,
    clients,
    thresholds:
      clients === 64
        ? [
            { of: 'petstore', beside: 'baseline', atLeast: 0.35 },
            { of: 'petstore', beside: 'naive', atLeast: 5 },
          ]
        : [],
  })),
  {
    name: 'walk',
    title: `All pages of ${SOME.toLocaleString('en')} pets`,
    pets: SOME,
    workload: listPages(SOME),
    servers: SERVICES,
    isWalked: true,
    thresholds: [],
  },
  ...[1, 10, 100, 1_000].map((clients) => ({
    name: `connections-${clients}`,
    title: `List of 20 with a link to the next page; connections: ${clients}`,
    pets: SOME,
    workload: listFirst,
    servers: ['baseline', 'petstore'] as const,
    clients,
    thresholds: [],
  })),
];

/** All scenarios; those on growth go up to `many` pets. */
export function createScenarios(many: number): readonly Scenario[] {
  return [
    ...COMPARISONS.map(compare),
    readsWhileCreates,
    grow({ name: 'growth-list', title: 'List, the first page', many, toWorkload: () => listFirst }),
    grow({
      name: 'growth-list-anywhere',
      title: 'List, a page from anywhere, right after a write',
      many,
      toWorkload: (pets) => listAnywhere(pets),
      isWritten: true,
    }),
    grow({
      name: 'growth-list-status',
      title: 'List of a status, a page from anywhere, right after a write',
      many,
      toWorkload: (pets) => listAnywhere(pets, 'sold'),
      isWritten: true,
    }),
    grow({ name: 'growth-get', title: 'Get, from anywhere', many, toWorkload: getAnywhere }),
    toStart(many),
    toMemory(many),
    keyedCreates,
    listsBesideCreates,
    besideDriver('list', 'List of different pages on PostgreSQL'),
    besideDriver('get', 'Get, of many pets on PostgreSQL'),
  ];
}
