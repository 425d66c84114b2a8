/** The table of all scenarios, with their thresholds. */

import { type Comparison, compare, type Kind } from './compare.ts';
import { grow } from './growth.ts';
import { readsWhileCreates } from './latency.ts';
import { besideDriver } from './postgres.ts';
import { replicas, replicasFarStandby } from './replicas.ts';
import type { Scenario } from './scenario.ts';
import { toMemory, toStart } from './start.ts';
import { create, getAnywhere, listAnywhere, listFirst, listPages } from './workloads.ts';
import { keyedCreates, listsBesideCreates } from './writes.ts';

const SOME = 10_000;
const SERVICES = ['baseline', 'petstore', 'petstore on PostgreSQL', 'naive'] as const;
const FRAMEWORKS = ['Fastify', 'Express'] as const;

/** The cost of the other server's requests must be at least this share of the cost here. */
const costOf = (other: Kind, atLeast: number) => ({ of: other, beside: 'petstore', atLeast });

const COMPARISONS: readonly Comparison[] = [
  {
    name: 'list',
    title: 'List of 20, again and again',
    pets: 20,
    workload: listFirst,
    servers: [...SERVICES, ...FRAMEWORKS, 'json-server', 'Prism'],
    thresholds: [
      costOf('baseline', 0.7),
      costOf('Fastify', 0.8),
      costOf('Express', 1.8),
      costOf('json-server', 5),
    ],
  },
  // No page is in the cache: each request is for another page than the 499 before it. Another process
  // commits about once for each answer, so that SQLite's own page cache is stale too. Writes through the
  // service would measure creates. The baseline gets the same requests beside the same process.
  {
    name: 'list-after-write',
    title: 'List of 20 right after a write',
    pets: SOME,
    workload: listPages(SOME),
    servers: ['baseline', 'petstore', 'naive'],
    isWritten: true,
    thresholds: [costOf('baseline', 0.35)],
  },
  {
    name: 'get',
    title: 'Get, of many pets',
    pets: SOME,
    workload: getAnywhere(SOME),
    servers: [...SERVICES, ...FRAMEWORKS],
    thresholds: [costOf('baseline', 0.6)],
  },
  {
    name: 'get-after-write',
    title: 'Get, of many pets, right after a write',
    pets: SOME,
    workload: getAnywhere(SOME),
    servers: ['baseline', 'petstore', 'naive'],
    isWritten: true,
    thresholds: [],
  },
  ...[1, 8, 64, 256].map((clients) => ({
    name: `create-${clients}`,
    title: `Create, on the disk before the answer; clients: ${clients}`,
    pets: 20,
    workload: create,
    servers: clients === 64 ? [...SERVICES, ...FRAMEWORKS] : SERVICES,
    clients,
    thresholds:
      clients === 64
        ? [
            costOf('baseline', 0.35),
            // A commit for each create leaves the processor idle while the disk syncs.
            { of: 'petstore', beside: 'naive', atLeast: 5, unit: 'requests/s' as const },
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
    grow({
      name: 'growth-get',
      title: 'Get, from anywhere, right after a write',
      many,
      toWorkload: getAnywhere,
      isWritten: true,
    }),
    toStart(many),
    toMemory(many),
    keyedCreates,
    ...listsBesideCreates,
    replicas,
    replicasFarStandby,
    besideDriver('list', 'List of different pages on PostgreSQL'),
    besideDriver('get', 'Get, of many pets on PostgreSQL'),
  ];
}
