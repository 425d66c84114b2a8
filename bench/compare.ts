/** Scenarios in which several servers get the same requests. */

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
import { check, fetchAnswer, toLoad, type Workload } from './workloads.ts';

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
  readonly thresholds: readonly Threshold[];
}

export function compare(comparison: Comparison): Scenario {
  const { name, title, pets, workload, servers, thresholds } = comparison;
  const entrants = servers.map((kind) => ({ name: kind, kind, pets, workload }));
  return {
    name,
    title,
    unit: 'CPU µs/request',
    thresholds,
    run: (bench) => measureEach(entrants, comparison, bench),
  };
}

/** A server that gets a workload. */
interface Entrant {
  readonly name: string;
  readonly kind: Kind;
  readonly pets: number;
  readonly workload: Workload;
}

export async function measureEach(
  entrants: readonly Entrant[],
  { clients = CLIENTS, isWritten = false }: Pick<Comparison, 'clients' | 'isWritten'>,
  { datasets, pace }: Bench,
) {
  await using stack = new AsyncDisposableStack();
  const files: string[] = [];
  const contenders: Contender[] = [];
  for (const entrant of entrants) {
    const { name, kind, pets, workload } = entrant;
    const dataset = await createDataset(kind, pets, datasets);
    const server = stack.use(await startEntrant(entrant, dataset, datasets));
    if (kind !== 'baseline') await check(workload, server);
    if (dataset !== undefined && dataset.file !== '') files.push(dataset.file);
    const asked = toLoad(workload, server, clients, datasets.folder);
    contenders.push({ name, measure: (seconds) => load(server, asked, seconds) });
  }
  if (isWritten) stack.use(startBesideLoad([program('writer'), ...files]));
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

async function startEntrant(
  { kind, pets, workload }: Entrant,
  dataset: Dataset | undefined,
  datasets: Datasets,
): Promise<Server> {
  const peer = PEERS.find((known) => known === kind);
  if (peer !== undefined) return startPeer(peer, datasets.folder, pets);
  if (dataset === undefined) return startBaselineOf(workload, pets, datasets);
  return kind === 'naive' ? startNaive(dataset) : startPetstore(dataset);
}

/** Starts a baseline: it sends the bytes that a service with so many pets answers. */
async function startBaselineOf(
  workload: Workload,
  pets: number,
  datasets: Datasets,
): Promise<Server> {
  await using petstore = await startPetstore(await datasets.create(pets));
  await check(workload, petstore);
  const answer = await fetchAnswer(workload, petstore);
  const baseline = await startBaseline(datasets.folder, answer);
  assert.deepEqual(await fetchAnswer(workload, baseline), answer);
  return baseline;
}
