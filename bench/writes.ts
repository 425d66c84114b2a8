/** Scenarios of creates: with and without an Idempotency-Key, and beside lists. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../test/support/until.ts';
import type { Dataset } from './datasets.ts';
import { type LoadOptions, load } from './load.ts';
import { takeTurns } from './measure.ts';
import type { Bench, Scenario } from './scenario.ts';
import { type Server, startPetstore } from './servers.ts';
import { check, create, listFirst } from './workloads.ts';

const PETS = 20;
const CREATORS = 64;
/** The creates start before the lists and end after them. */
const MARGIN_MS = 250;

export const CREATES: Readonly<Record<string, () => LoadOptions['script']>> = {
  creates: () => ['create.lua'],
  'keyed creates': () => ['create-keyed.lua', `${randomUUID()}-`],
};

/** A service with open connections to its database. */
export async function startOnPostgres(dataset: Dataset): Promise<Server> {
  const server = await startPetstore(dataset);
  const warm = () => load(server, { clients: 8, path: '/pets' }, 1);
  await until(() =>
    warm().then(
      () => true,
      () => false,
    ),
  );
  return server;
}

export const keyedCreates: Scenario = {
  name: 'create-keyed',
  title: `Create, with and without an Idempotency-Key; clients: ${CREATORS}`,
  unit: 'requests/s',
  thresholds: ['petstore', 'petstore on PostgreSQL'].map((name) => ({
    of: `${name}, keyed creates`,
    beside: `${name}, creates`,
    atLeast: 0.7,
  })),
  async run({ datasets, pace }) {
    await using sqlite = await startPetstore(await datasets.create(PETS));
    await using postgres = await startOnPostgres(await datasets.createInPostgres(PETS));
    const servers = { petstore: sqlite, 'petstore on PostgreSQL': postgres };
    for (const server of Object.values(servers)) await check(create, server);
    const contenders = Object.entries(servers).flatMap(([name, server]) =>
      Object.entries(CREATES).map(([kind, toScript]) => ({
        name: `${name}, ${kind}`,
        measure: (seconds: number) => load(server, toCreates(toScript()), seconds),
      })),
    );
    return await takeTurns(contenders, pace);
  },
};

/**
 * The pause between two creates of a client: 64 clients send about 3,000 a second. Without the pause creates
 * use the whole core, and lists wait for the core and not for the disk.
 */
const PAUSE_MS = 20;

export const readsWhileCreates: Scenario = {
  name: 'reads-while-creates',
  title: `List: the latency that 99 % keep, alone and while ${CREATORS} clients create, each with a pause of ${PAUSE_MS} ms`,
  unit: 'ms',
  thresholds: [{ of: 'beside creates', beside: 'alone', atMost: 2 }],
  async run(bench) {
    await using server = await startPetstore(await bench.datasets.create(PETS));
    const creates = { creates: () => ['create.lua', String(PAUSE_MS)] as const };
    return await listBeside(creates, server, { clients: 32, path: '/pets' }, bench);
  },
};

export const listsBesideCreates: Scenario = {
  name: 'postgres-lists-beside-creates',
  title: `List of 20 on PostgreSQL, 8 clients, alone and while ${CREATORS} clients create`,
  unit: 'requests/s',
  thresholds: Object.keys(CREATES).map((kind) => ({
    of: `beside ${kind}`,
    beside: 'alone',
    atLeast: 0.5,
  })),
  async run(bench) {
    await using server = await startOnPostgres(await bench.datasets.createInPostgres(PETS));
    // If the database gets little of the processor, some requests wait too long for a connection.
    return await listBeside(CREATES, server, { clients: 8, path: '/pets', mayRefuse: true }, bench);
  },
};

/** Measures lists alone, and beside each kind of creates. */
async function listBeside(
  kinds: typeof CREATES,
  server: Server,
  lists: LoadOptions,
  { pace }: Bench,
) {
  await check(listFirst, server);
  const list = async (seconds: number) => {
    const { ms, 'requests/s': perSecond } = await load(server, lists, seconds);
    return { ms, 'requests/s': perSecond };
  };
  const beside = Object.entries(kinds).map(([kind, toScript]) => ({
    name: `beside ${kind}`,
    async measure(seconds: number) {
      const creating = load(server, { ...lists, ...toCreates(toScript()) }, seconds + 1);
      await sleep(MARGIN_MS);
      const [sample] = await Promise.all([list(seconds), creating]);
      return sample;
    },
  }));
  return await takeTurns([{ name: 'alone', measure: list }, ...beside], pace);
}

function toCreates(script: LoadOptions['script']): LoadOptions {
  return { clients: CREATORS, path: '/pets', ...(script && { script }) };
}
