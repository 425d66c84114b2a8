/**
 * Prints the creates a second that the queue at the counter lets through, for docs/scaling.md: simulated,
 * by the closed form, and as they were measured. Always the same for the same seed.
 *
 * Usage: npm run scaling [-- SEED]
 */

import { type CounterQueue, simulate } from './counter-queue.ts';

const seed = Number(process.argv[2] ?? 1);
const SECONDS = 10;

/**
 * A synchronous standby; commits of 9.5 ms. What a commit holds the counter for beyond that is chosen so that
 * one replica with 64 clients comes out as measured; the other rows are then predictions.
 */
const STANDBY = { commitMs: 11.05, petMs: 0.008, petsMax: 500, returnMs: 1 };
const MEASURED: readonly (readonly [clients: number, replicas: number, perSecond: string])[] = [
  [64, 1, '2,835'],
  [64, 2, '1,447'],
  [64, 4, '779'],
  [64, 8, '338'],
  [256, 1, ''],
  [256, 2, ''],
  [256, 4, ''],
  [256, 8, ''],
];

console.log('| clients | replicas | measured | simulated | clients ÷ 2 × replicas × commit |');
console.log('|--:|--:|--:|--:|--:|');
for (const [clients, replicas, measured] of MEASURED) {
  const { perSecond } = simulate({ ...STANDBY, clients, replicas }, { seconds: SECONDS, seed });
  const closed = clients / (2 * replicas * toHeldSeconds({ ...STANDBY, clients, replicas }));
  print(clients, replicas, measured, perSecond, closed);
}

/** Clients that send a create each second, once the last one is answered. */
const RETURN_MS = 1_000;
const COMMITS = { 'a local disk': 1, 'a synchronous standby': 11 };

console.log('\n| commits to | replicas | clients | creates/s | pets of a commit | p99 ms |');
console.log('|---|--:|--:|--:|--:|--:|');
for (const [to, commitMs] of Object.entries(COMMITS)) {
  for (const clients of [1_000, 10_000, 100_000]) {
    for (const replicas of [2, 9, 40]) {
      const queue = { ...STANDBY, replicas, clients, commitMs, returnMs: RETURN_MS };
      const { perSecond, petsOfCommit, waitMs } = simulate(queue, { seconds: SECONDS, seed });
      print(to, replicas, clients, perSecond, petsOfCommit, waitMs.p99);
    }
  }
}

/** A commit of half of a replica's clients: while it holds the counter the other half gathers. */
function toHeldSeconds({ clients, replicas, commitMs, petMs }: CounterQueue): number {
  return (commitMs + (petMs * clients) / replicas / 2) / 1_000;
}

function print(...cells: readonly (string | number)[]): void {
  const texts = cells.map((cell) =>
    typeof cell === 'string'
      ? cell
      : cell.toLocaleString('en', { maximumFractionDigits: cell < 10 ? 1 : 0 }),
  );
  console.log(`| ${texts.join(' | ')} |`);
}
