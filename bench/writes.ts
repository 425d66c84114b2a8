/** Scenarios of creates with an Idempotency-Key: beside plain creates, and beside lists. */

import { randomUUID } from 'node:crypto';
import { startProxy } from '../test/support/proxy.ts';
import { until } from '../test/support/until.ts';
import type { Dataset } from './datasets.ts';
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

export const CREATES: Readonly<Record<string, () => LoadOptions['script']>> = {
  creates: () => ['create.lua'],
  'keyed creates': () => ['create-keyed.lua', `${randomUUID()}-`],
};

/** In either direction. */
const FAR_MS = 5;
const POSTGRES = {
  'petstore on PostgreSQL': 0,
  [`petstore on PostgreSQL, ${FAR_MS} ms away`]: FAR_MS,
};

/** A service with open connections to a database that is so far away. */
export async function startOnPostgres(dataset: Dataset, delayMs = 0) {
  await using stack = new AsyncDisposableStack();
  const { address } = delayMs > 0 ? stack.use(await startProxy(dataset.address, delayMs)) : dataset;
  const server = stack.use(await startPetstore({ ...dataset, address }));
  const warm = () => load(server, { clients: LISTERS, path: '/pets' }, 1);
  await until(() =>
    warm().then(
      () => true,
      () => false,
    ),
  );
  const all = stack.move();
  return { ...server, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

export const keyedCreates: Scenario = {
  name: 'create-keyed',
  title: `Create, with and without an Idempotency-Key; clients: ${CREATORS}`,
  unit: 'requests/s',
  thresholds: ['petstore', ...Object.keys(POSTGRES)].map((name) => ({
    of: `${name}, keyed creates`,
    beside: `${name}, creates`,
    atLeast: 0.7,
  })),
  async run({ datasets, pace }) {
    await using stack = new AsyncDisposableStack();
    const servers = { petstore: stack.use(await startPetstore(await datasets.create(PETS))) };
    for (const [name, delayMs] of Object.entries(POSTGRES)) {
      Object.assign(servers, {
        [name]: stack.use(await startOnPostgres(await datasets.createInPostgres(PETS), delayMs)),
      });
    }
    for (const server of Object.values(servers)) await check(create, server);
    const contenders = Object.entries(servers).flatMap(([name, server]) =>
      Object.entries(CREATES).map(([kind, toScript]) => ({
        name: `${name}, ${kind}`,
        measure: async (seconds: number) =>
          (await load(server, toCreates(toScript), seconds)).sample,
      })),
    );
    return await takeTurns(contenders, pace);
  },
};

export const listsBesideCreates = [
  toListsBesideCreates('postgres-lists-beside-creates', 'PostgreSQL', 0),
  toListsBesideCreates('postgres-lists-beside-creates-far', `PostgreSQL ${FAR_MS} ms away`, FAR_MS),
];

function toListsBesideCreates(name: string, where: string, delayMs: number): Scenario {
  return {
    name,
    title: `List of 20 on ${where}, ${LISTERS} clients, alone and while ${CREATORS} clients create`,
    unit: 'requests/s',
    thresholds: Object.keys(CREATES).map((kind) => ({
      of: `beside ${kind}`,
      beside: 'alone',
      atLeast: 0.5,
    })),
    run: (bench) => runLists(bench, delayMs),
  };
}

async function runLists({ datasets, pace }: Bench, delayMs: number) {
  await using server = await startOnPostgres(await datasets.createInPostgres(PETS), delayMs);
  await check(listFirst, server);
  // If the database gets little of the processor, some requests wait too long for a connection.
  const lists = { ...toLoad(listFirst, server, LISTERS, datasets.folder), mayRefuse: true };
  const measure = async (seconds: number, toScript?: (typeof CREATES)[string]) => {
    const creates = toScript && { ...toCreates(toScript), mayRefuse: true };
    const creating = creates && load(server, creates, seconds + 1);
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
