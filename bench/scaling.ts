/**
 * Prints the creates a second that the queue at the counter lets through, for docs/scaling.md: simulated,
 * by the closed form, and as they were measured: once, or, with `--measure`, now. The simulation is always the
 * same for the same seed. `--measure` needs what the bench needs, and a machine without other work.
 */

import { Command } from 'commander';
import { parseCount } from './arguments.ts';
import { type CounterQueue, simulate } from './counter-queue.ts';
import { type Measured, measureQueue } from './counter-trial.ts';

const command = new Command('npm run scaling --')
  .argument('[seed]', 'of the simulation', parseCount, 1)
  .option('--measure', 'measure now, on this machine', false)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();
const [seed] = command.processedArgs as [number];
const { measure } = command.opts<{ measure: boolean }>();
const SECONDS = 10;

/** With a synchronous standby and commits of 9.5 ms. */
const MEASURED: readonly Measured[] = [
  { clients: 64, replicas: 1, perSecond: 2_835 },
  { clients: 64, replicas: 2, perSecond: 1_447 },
  { clients: 64, replicas: 4, perSecond: 779 },
  { clients: 64, replicas: 8, perSecond: 338 },
];
const PET = { petMs: 0.008, petsMax: 500 };

const trials = measure ? await measureQueue() : MEASURED;
const commitMs = fit(trials);
console.log(`A commit holds the counter for ${commitMs.toFixed(2)} ms, by the first row.\n`);
console.log('| clients | replicas | measured | simulated | clients ÷ 2 × replicas × commit |');
console.log('|--:|--:|--:|--:|--:|');
for (const { clients, replicas, perSecond } of trials) {
  const queue = { ...PET, clients, replicas, commitMs, returnMs: 1 };
  const simulated = simulate(queue, { seconds: SECONDS, seed });
  const computed = clients / (2 * replicas * toHeldSeconds(queue));
  print(clients, replicas, perSecond, simulated.perSecond, computed);
}

/** Clients that send a create each second, once the last one is answered. */
const RETURN_MS = 1_000;
const COMMITS = { 'a local disk': 1, 'a synchronous standby': 11 };

console.log('\n| commits to | replicas | clients | creates/s | pets of a commit | p99 ms |');
console.log('|---|--:|--:|--:|--:|--:|');
for (const [to, commitMs] of Object.entries(COMMITS)) {
  for (const clients of [1_000, 10_000, 100_000]) {
    for (const replicas of [2, 9, 40]) {
      const queue = { ...PET, replicas, clients, commitMs, returnMs: RETURN_MS };
      const { perSecond, petsOfCommit, waitMs } = simulate(queue, { seconds: SECONDS, seed });
      print(to, replicas, clients, perSecond, petsOfCommit, waitMs.p99);
    }
  }
}

/** The time that makes the formula true of the first trial; the others are then predictions. */
function fit([first]: readonly Measured[]): number {
  if (first === undefined) throw new Error('there is no trial');
  const petsOfCommit = first.clients / first.replicas / 2;
  return petsOfCommit * (1_000 / first.perSecond - PET.petMs);
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
