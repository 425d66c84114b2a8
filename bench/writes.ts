/** Scenarios of creates with an Idempotency-Key: beside those without one, and with lists beside them. */

import { randomUUID } from 'node:crypto';
import { type LoadOptions, load } from './load.ts';
import { takeTurns } from './measure.ts';
import type { Bench, Scenario } from './scenario.ts';
import { startPetstore } from './servers.ts';
import { check, create, listFirst, toLoad } from './workloads.ts';

const PETS = 20;
const CREATORS = 64;
const LISTERS = 8;
/** The creates start before the lists and end after them. */
const MARGIN_MS = 250;

const CREATES: Readonly<Record<string, () => LoadOptions['script']>> = {
  creates: () => ['create.lua'],
  'keyed creates': () => ['create-keyed.lua', `${randomUUID()}-`],
};

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
    await using postgres = await startPetstore(await datasets.createInPostgres(PETS));
    const servers = { petstore: sqlite, 'petstore on PostgreSQL': postgres };
    const contenders = Object.entries(servers).flatMap(([name, server]) =>
      Object.entries(CREATES).map(([kind, toScript]) => ({
        name: `${name}, ${kind}`,
        measure: async (seconds: number) =>
          (await load(server, toCreates(toScript), seconds)).sample,
      })),
    );
    for (const server of Object.values(servers)) await check(create, server);
    return await takeTurns(contenders, pace);
  },
};

export const listsBesideCreates: Scenario = {
  name: 'postgres-lists-beside-creates',
  title: `List of 20 on PostgreSQL, ${LISTERS} clients, alone and while ${CREATORS} clients create`,
  unit: 'requests/s',
  thresholds: Object.keys(CREATES).map((kind) => ({
    of: `beside ${kind}`,
    beside: 'alone',
    atLeast: 0.5,
  })),
  run: runLists,
};

async function runLists({ datasets, pace }: Bench) {
  await using server = await startPetstore(await datasets.createInPostgres(PETS));
  await check(listFirst, server);
  const lists = toLoad(listFirst, server, LISTERS, datasets.folder);
  const measure = async (seconds: number, toScript?: (typeof CREATES)[string]) => {
    const creating = toScript && load(server, toCreates(toScript), seconds + 1);
    await new Promise((resolve) => setTimeout(resolve, MARGIN_MS));
    const [{ sample }] = await Promise.all([load(server, lists, seconds), creating]);
    return { 'requests/s': sample['requests/s'] ?? Number.NaN };
  };
  return await takeTurns(
    [
      { name: 'alone', measure: (seconds) => measure(seconds) },
      ...Object.entries(CREATES).map(([kind, toScript]) => ({
        name: `beside ${kind}`,
        measure: (seconds: number) => measure(seconds, toScript),
      })),
    ],
    pace,
  );
}

function toCreates(toScript: (typeof CREATES)[string]): LoadOptions {
  const script = toScript();
  return { clients: CREATORS, path: '/pets', ...(script && { script }) };
}
