/** A simulation of the queue at the counter of ids: replicas hold it one after the other, each for a commit of all creates that wait in it. */

import { createRandom } from '../src/cli/pet-file/sample.ts';

export interface CounterQueue {
  readonly replicas: number;
  /** Of all replicas; each sends its next create some time after the answer to the last one. */
  readonly clients: number;
  /** That time: the mean of an exponential distribution. */
  readonly returnMs: number;
  /** How long a commit holds the counter, and how much longer for each of its pets. */
  readonly commitMs: number;
  readonly petMs: number;
  /** The most pets of a commit; the next one has the others. */
  readonly petsMax: number;
}

export interface Simulated {
  readonly perSecond: number;
  readonly petsOfCommit: number;
  /** From the arrival of a create to its answer. */
  readonly waitMs: { readonly mean: number; readonly p99: number };
}

/** It has one commit at a time; what arrives meanwhile is the next one. */
interface Replica {
  /** When each create arrives that is in no commit yet; some will. */
  arrivals: number[];
  batch: readonly number[];
  /** When its batch asks for the counter. */
  asksAt: number;
}

/** The first part of the time is not counted: it depends on how the clients begin. */
const WARM_SHARE = 0.2;

/** Always the same for the same seed. */
export function simulate(
  queue: CounterQueue,
  { seconds, seed }: { readonly seconds: number; readonly seed: number },
): Simulated {
  const random = createRandom(seed);
  const toReturn = (answeredAt: number) => answeredAt - queue.returnMs * Math.log(1 - random());
  const replicas = Array.from({ length: queue.replicas }, (_, index): Replica => {
    const clients = Math.floor((queue.clients + index) / queue.replicas);
    const arrivals = Array.from({ length: clients }, () => toReturn(0));
    return collect({ arrivals, batch: [], asksAt: 0 }, 0, queue.petsMax);
  });
  const endMs = seconds * 1_000;
  const waits: number[] = [];
  let commits = 0;
  for (let now = 0; ; ) {
    const replica = replicas.reduce((one, other) => (other.asksAt < one.asksAt ? other : one));
    const { asksAt, batch } = replica;
    now = Math.max(asksAt, now) + queue.commitMs + queue.petMs * batch.length;
    if (now > endMs) return toResult(waits, commits, seconds * (1 - WARM_SHARE));
    if (now > endMs * WARM_SHARE) {
      commits += 1;
      for (const at of batch) waits.push(now - at);
    }
    for (const _ of batch) replica.arrivals.push(toReturn(now));
    collect(replica, now, queue.petsMax);
  }
}

/** Makes the next batch of what has arrived, or of the first create that will. */
function collect(replica: Replica, now: number, petsMax: number): Replica {
  const first = replica.arrivals.reduce(
    (least, at) => Math.min(least, at),
    Number.POSITIVE_INFINITY,
  );
  const asksAt = Math.max(now, first);
  const arrived = replica.arrivals.filter((at) => at <= asksAt).sort((a, b) => a - b);
  const coming = replica.arrivals.filter((at) => at > asksAt);
  const batch = arrived.splice(0, petsMax);
  return Object.assign(replica, { asksAt, batch, arrivals: [...coming, ...arrived] });
}

function toResult(waits: number[], commits: number, seconds: number): Simulated {
  waits.sort((a, b) => a - b);
  const mean = waits.reduce((sum, ms) => sum + ms, 0) / waits.length;
  return {
    perSecond: waits.length / seconds,
    petsOfCommit: waits.length / commits,
    waitMs: { mean, p99: waits[Math.floor(0.99 * waits.length)] ?? mean },
  };
}
