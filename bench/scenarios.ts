/** The table of all scenarios, with their thresholds. */

import { type Comparison, compare, type Kind } from './compare.ts';
import { grow } from './growth.ts';
import { replicas, replicasFarStandby } from './replicas.ts';
import type { Scenario } from './scenario.ts';
import { toMemory, toStart } from './start.ts';
import { create, getAnywhere, listAnywhere, listFirst, listPages } from './workloads.ts';
import { keyedCreates, listsBesideCreates, readsWhileCreates } from './writes.ts';

const SOME = 10_000;
const SERVICES = ['baseline', 'petstore', 'petstore on PostgreSQL'] as const;
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
      costOf('baseline', 0.5),
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
    servers: ['baseline', 'petstore'],
    isWritten: true,
    thresholds: [costOf('baseline', 0.25)],
  },
  {
    name: 'get',
    title: 'Get, of many pets',
    pets: SOME,
    workload: getAnywhere(SOME),
    servers: [...SERVICES, ...FRAMEWORKS],
    thresholds: [costOf('baseline', 0.45)],
  },
  {
    name: 'create-1',
    title: 'Create, on the disk before the answer; one client',
    pets: 20,
    workload: create,
    servers: SERVICES,
    clients: 1,
    thresholds: [],
  },
  {
    name: 'create-64',
    title: 'Create, on the disk before the answer; clients: 64',
    pets: 20,
    workload: create,
    servers: [...SERVICES, 'naive', ...FRAMEWORKS],
    clients: 64,
    thresholds: [
      costOf('baseline', 0.28),
      // A commit for each create leaves the processor idle while the disk syncs.
      { of: 'petstore', beside: 'naive', atLeast: 5, unit: 'requests/s' },
    ],
  },
  {
    name: 'walk',
    title: `All pages of ${SOME.toLocaleString('en')} pets`,
    pets: SOME,
    workload: listPages(SOME),
    servers: SERVICES,
    thresholds: [],
  },
];

/** All scenarios; those on growth go up to `many` pets. */
export function createScenarios(many: number): readonly Scenario[] {
  return [
    ...COMPARISONS.map(compare),
    readsWhileCreates,
    grow({
      name: 'growth-list',
      title: 'List, a page from anywhere, right after a write',
      many,
      toWorkload: (pets) => listAnywhere(pets),
    }),
    grow({
      name: 'growth-list-status',
      title: 'List of a status, a page from anywhere, right after a write',
      many,
      toWorkload: (pets) => listAnywhere(pets, 'sold'),
    }),
    grow({
      name: 'growth-get',
      title: 'Get, from anywhere, right after a write',
      many,
      toWorkload: getAnywhere,
    }),
    toStart(many),
    toMemory(many),
    keyedCreates,
    listsBesideCreates,
    replicas,
    replicasFarStandby,
  ];
}
