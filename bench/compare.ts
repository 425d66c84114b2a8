/** Works in which several servers are asked the same. */

import assert from 'node:assert/strict';
import type { Dataset, Datasets } from './datasets.ts';
import { load } from './load.ts';
import { type Contender, takeTurns } from './measure.ts';
import { PEERS, type Peer, startPeer } from './peers.ts';
import type { Bench, Scenario, Threshold } from './scenario.ts';
import {
  program,
  type Server,
  startBaseline,
  startBesideLoad,
  startNaive,
  startPetstore,
} from './servers.ts';
import { check, fetchAnswer, toLoad, type Workload, walk } from './workloads.ts';

export const CLIENTS = 32;

export type Kind = 'baseline' | 'petstore' | 'petstore on PostgreSQL' | 'naive' | Peer;

export interface Comparison {
  readonly name: string;
  readonly title: string;
  readonly pets: number;
  readonly workload: Workload;
  readonly servers: readonly Kind[];
  readonly clients?: number;
  /** Whether another process commits to the files all the time. */
  readonly isWritten?: boolean;
  /** Whether the links from page to page are followed once, before anything is measured. */
  readonly isWalked?: boolean;
  readonly thresholds: readonly Threshold[];
}

export function compare(comparison: Comparison): Scenario {
  const { name, title, thresholds } = comparison;
  return { name, title, unit: 'requests/s', thresholds, run: (bench) => run(comparison, bench) };
}

async function run(comparison: Comparison, { datasets, pace }: Bench) {
  const { pets, workload, servers, clients = CLIENTS } = comparison;
  await using stack = new AsyncDisposableStack();
  const files: string[] = [];
  const contenders: Contender[] = [];
  for (const kind of servers) {
    const dataset = await createStore(kind, pets, datasets);
    const server = await startKind(kind, comparison, { dataset, datasets });
    stack.use(server);
    if (kind !== 'baseline') await check(workload, server);
    if (comparison.isWalked && dataset !== undefined) await walk(server, pets);
    if (dataset !== undefined && dataset.file !== '') files.push(dataset.file);
    contenders.push({
      name: kind,
      measure: (seconds) => ask(workload, { server, dataset, clients, datasets }, seconds),
    });
  }
  if (comparison.isWritten) stack.use(startBesideLoad([program('writer'), ...files]));
  return await takeTurns(contenders, pace);
}

/** Where the pets of such a server are; undefined when they are in its memory. */
async function createStore(
  kind: Kind,
  pets: number,
  datasets: Datasets,
): Promise<Dataset | undefined> {
  if (kind === 'petstore on PostgreSQL') return datasets.createInPostgres(pets);
  return kind === 'petstore' || kind === 'naive' ? datasets.create(pets) : undefined;
}

async function startKind(
  kind: Kind,
  { pets, workload }: Comparison,
  { dataset, datasets }: { dataset: Dataset | undefined; datasets: Datasets },
): Promise<Server> {
  const peer = PEERS.find((known) => known === kind);
  if (peer !== undefined) return startPeer(peer, datasets.folder, pets);
  if (dataset === undefined) return startBaselineOf([workload], pets, datasets);
  return kind === 'naive' ? startNaive(dataset) : startPetstore(dataset);
}

/** Starts a limit that sends the bytes which a service with so many pets answers to the workloads. */
export async function startBaselineOf(
  workloads: readonly Workload[],
  pets: number,
  datasets: Datasets,
): Promise<Server> {
  await using petstore = await startPetstore(await datasets.create(pets));
  const answers: Record<string, Awaited<ReturnType<typeof fetchAnswer>>> = {};
  for (const workload of workloads) {
    await check(workload, petstore);
    answers[workload.method] = await fetchAnswer(workload, petstore);
  }
  const limit = await startBaseline(datasets.folder, answers);
  for (const workload of workloads) {
    assert.deepEqual(await fetchAnswer(workload, limit), answers[workload.method]);
  }
  return limit;
}

interface Asked {
  readonly server: Server;
  readonly dataset: Dataset | undefined;
  readonly clients: number;
  readonly datasets: Datasets;
}

/** Requests per second. Creates must also be found in the dataset afterwards. */
async function ask(
  workload: Workload,
  { server, dataset, clients, datasets }: Asked,
  seconds: number,
): Promise<number> {
  const asked = toLoad(workload, server, clients, datasets.folder);
  const before = workload.method === 'POST' ? await dataset?.countPets() : undefined;
  const { requests, perSecond } = await load(server, asked, seconds);
  if (dataset !== undefined && before !== undefined) {
    const added = (await dataset.countPets()) - before;
    // The last ones of this turn and of the one before were cut off before their answers.
    const isRight = added >= requests && added <= requests + 2 * clients;
    assert(isRight, `${server.url} added ${added} pets in ${requests} requests`);
  }
  return perSecond;
}
