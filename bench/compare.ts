/** Scenarios in which several servers get the same requests. */

import assert from 'node:assert/strict';
import type { Dataset, Datasets } from './datasets.ts';
import { load } from './load.ts';
import { type Contender, type Sample, takeTurns } from './measure.ts';
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
  /** Whether another process keeps committing to the files. */
  readonly isWritten?: boolean;
  /** Whether the links from page to page are followed once, before anything is measured. */
  readonly isWalked?: boolean;
  readonly thresholds: readonly Threshold[];
}

export function compare(comparison: Comparison): Scenario {
  const { name, title, thresholds } = comparison;
  return {
    name,
    title,
    unit: 'CPU µs/request',
    thresholds,
    run: (bench) => run(comparison, bench),
  };
}

async function run(comparison: Comparison, { datasets, pace }: Bench) {
  const { pets, workload, servers, clients = CLIENTS } = comparison;
  await using stack = new AsyncDisposableStack();
  const files: string[] = [];
  const contenders: Contender[] = [];
  for (const kind of servers) {
    const dataset = await createDataset(kind, pets, datasets);
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

/** The dataset of a server; undefined if the server keeps its pets in memory. */
async function createDataset(
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

/** Starts a baseline: it sends the bytes that a service with so many pets answers. */
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
  const baseline = await startBaseline(datasets.folder, answers);
  for (const workload of workloads) {
    assert.deepEqual(await fetchAnswer(workload, baseline), answers[workload.method]);
  }
  return baseline;
}

interface Asked {
  readonly server: Server;
  readonly dataset: Dataset | undefined;
  readonly clients: number;
  readonly datasets: Datasets;
}

/** The sample of a turn. After creates it checks that the dataset has the pets. */
async function ask(
  workload: Workload,
  { server, dataset, clients, datasets }: Asked,
  seconds: number,
): Promise<Sample> {
  const asked = toLoad(workload, server, clients, datasets.folder);
  const before = workload.method === 'POST' ? await dataset?.countPets() : undefined;
  const { requests, sample } = await load(server, asked, seconds);
  if (dataset !== undefined && before !== undefined) {
    const added = (await dataset.countPets()) - before;
    // wrk does not wait for the last answers of this turn and of the turn before.
    const isRight = added >= requests && added <= requests + 2 * clients;
    assert(isRight, `${server.url} added ${added} pets in ${requests} requests`);
  }
  return sample;
}
