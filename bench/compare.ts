/** Works in which several servers are asked the same. */

import assert from 'node:assert/strict';
import type { Store, Stores } from './datasets.ts';
import { load } from './load.ts';
import { type Contender, takeTurns } from './measure.ts';
import { PEERS, type Peer, startPeer } from './peers.ts';
import type { Bar, Bench, Work } from './scenario.ts';
import {
  program,
  type Server,
  startBesideLoad,
  startLimit,
  startNaive,
  startPetstore,
} from './servers.ts';
import { check, findAnswer, type Question, toLoad, walk } from './workloads.ts';

export const CLIENTS = 32;

export type Kind = 'limit' | 'petstore' | 'petstore on PostgreSQL' | 'naive' | Peer;

export interface Comparison {
  readonly name: string;
  readonly title: string;
  readonly animals: number;
  readonly question: Question;
  readonly servers: readonly Kind[];
  readonly clients?: number;
  /** Whether another process commits to the files all the time. */
  readonly isWritten?: boolean;
  /** Whether the links from page to page are followed once, before anything is measured. */
  readonly isWalked?: boolean;
  readonly bars: readonly Bar[];
}

export function compare(comparison: Comparison): Work {
  const { name, title, bars } = comparison;
  return { name, title, unit: 'requests/s', bars, run: (bench) => run(comparison, bench) };
}

async function run(comparison: Comparison, { stores, pace }: Bench) {
  const { animals, question, servers, clients = CLIENTS } = comparison;
  await using stack = new AsyncDisposableStack();
  const files: string[] = [];
  const contenders: Contender[] = [];
  for (const kind of servers) {
    const store = await createStore(kind, animals, stores);
    const server = await startKind(kind, comparison, { store, stores });
    stack.use(server);
    if (kind !== 'limit') await check(question, server);
    if (comparison.isWalked && store !== undefined) await walk(server, animals);
    if (store !== undefined && store.file !== '') files.push(store.file);
    contenders.push({
      name: kind,
      measure: (seconds) => ask(question, { server, store, clients, stores }, seconds),
    });
  }
  if (comparison.isWritten) stack.use(startBesideLoad([program('writer'), ...files]));
  return await takeTurns(contenders, pace);
}

/** Where the animals of such a server are; undefined when they are in its memory. */
async function createStore(
  kind: Kind,
  animals: number,
  stores: Stores,
): Promise<Store | undefined> {
  if (kind === 'petstore on PostgreSQL') return stores.createInPostgres(animals);
  return kind === 'petstore' || kind === 'naive' ? stores.create(animals) : undefined;
}

async function startKind(
  kind: Kind,
  { animals, question }: Comparison,
  { store, stores }: { store: Store | undefined; stores: Stores },
): Promise<Server> {
  const peer = PEERS.find((known) => known === kind);
  if (peer !== undefined) return startPeer(peer, stores.folder, animals);
  if (store === undefined) return startLimitOf([question], animals, stores);
  return kind === 'naive' ? startNaive(store) : startPetstore(store);
}

/** Starts a limit that sends the bytes which a service with so many animals answers to the questions. */
export async function startLimitOf(
  questions: readonly Question[],
  animals: number,
  stores: Stores,
): Promise<Server> {
  await using petstore = await startPetstore(await stores.create(animals));
  const answers: Record<string, Awaited<ReturnType<typeof findAnswer>>> = {};
  for (const question of questions) {
    await check(question, petstore);
    answers[question.method] = await findAnswer(question, petstore);
  }
  const limit = await startLimit(stores.folder, answers);
  for (const question of questions) {
    assert.deepEqual(await findAnswer(question, limit), answers[question.method]);
  }
  return limit;
}

interface Asked {
  readonly server: Server;
  readonly store: Store | undefined;
  readonly clients: number;
  readonly stores: Stores;
}

/** Requests per second. Creates must also be found in the store afterwards. */
async function ask(
  question: Question,
  { server, store, clients, stores }: Asked,
  seconds: number,
): Promise<number> {
  const asked = toLoad(question, server, clients, stores.folder);
  const before = question.method === 'POST' ? await store?.countAnimals() : undefined;
  const { requests, perSecond } = await load(server, asked, seconds);
  if (store !== undefined && before !== undefined) {
    const added = (await store.countAnimals()) - before;
    // The last ones of this turn and of the one before were cut off before their answers.
    const isRight = added >= requests && added <= requests + 2 * clients;
    assert(isRight, `${server.url} added ${added} animals in ${requests} requests`);
  }
  return perSecond;
}
