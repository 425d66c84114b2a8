/** Runs creates of many clients while processes are killed, and checks the history against the database. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from './client.ts';
import { type Create, createHistory } from './history.ts';
import { findViolations } from './history-checker.ts';
import type { Revival, Subject } from './subject.ts';

/** The kill comes within this time after the last counted answer. */
const STRIKE_MS_MAX = 20;
/** A service that is slower counts as stuck. */
const ROUND_MS_MAX = 60_000;
const PAUSE_MS = 5;

/** One client in so many sends an Idempotency-Key, and repeats a create whose answer was lost. */
const REPEATING_CLIENTS = 4;

/** The goal is 1 s; the rest is for a machine that does other work at the same time. */
const READY_MS_BAR = 1_000;
const READY_MS_MAX = 30_000;

export interface CrashOptions {
  readonly kills: number;
  /** The least number of acknowledged creates. */
  readonly creates: number;
  readonly clients: number;
}

/** Creates, kills, and compares what was acknowledged with what is stored, `rounds` times. */
export async function crash(
  t: TestContext,
  subject: Subject,
  { kills, creates, clients }: CrashOptions,
): Promise<void> {
  const history = createHistory();
  const wrong: string[] = [];
  const client = createClient(subject, history, wrong);
  const repeatable: (Create | undefined)[] = [];
  const revivals: Revival[] = [];
  let acknowledged = 0;
  let repetitions = 0;
  let last = 0;

  /** Resolves once processes were killed and every client has an answer or a broken connection. */
  async function createUntilStruck(round: number, quota: number) {
    const reached = Promise.withResolvers<void>();
    const until = acknowledged + quota;
    let isStruck = false;

    async function run(place: number): Promise<void> {
      const isRepeatable = place % REPEATING_CLIENTS === 0;
      for (let count = 0; !isStruck; count += 1) {
        const earlier = count === 0 ? repeatable[place] : undefined;
        const create = earlier ?? client.plan(`round ${round} client ${place} ${count}`);
        if (earlier !== undefined) repetitions += 1;
        if (isRepeatable) repeatable[place] = create;
        do {
          const isNew = create.id === undefined;
          if (await client.create(create, isRepeatable)) {
            if (isNew) acknowledged += 1;
            if (acknowledged >= until) reached.resolve();
            break;
          }
          await sleep(PAUSE_MS);
        } while (isRepeatable && !isStruck);
      }
    }

    const running = Array.from({ length: clients }, (_, place) => run(place));
    try {
      const isReached = await Promise.race([
        reached.promise.then(() => true),
        sleep(ROUND_MS_MAX, false, { ref: false }),
      ]);
      assert.ok(isReached, `${acknowledged} of ${until} creates: ${JSON.stringify(wrong)}`);
      await sleep(subject.random() * STRIKE_MS_MAX);
      return await subject.strike();
    } finally {
      isStruck = true;
      await Promise.all(running);
    }
  }

  async function readStored(after: number): Promise<void> {
    const from = performance.now();
    const pets = await subject.readStored(after);
    const to = performance.now();
    history.pages.push({ from, to, after, limit: Infinity, pets, hasNext: false });
    last = pets.at(-1)?.id ?? last;
  }

  for (let round = 1; round <= kills; round += 1) {
    const share = Math.max(0, creates - acknowledged) / (kills - round + 1);
    // A different moment in each round.
    const quota = round === kills ? share : share * 2 * subject.random();
    const revive = await createUntilStruck(round, Math.ceil(quota));
    revivals.push(await revive());
    await readStored(last);
    subject.assertSound();
  }
  for (const create of repeatable.filter((each) => each !== undefined)) {
    await client.create(create, true);
    assert.ok(create.id !== undefined, `${create.name}: ${JSON.stringify(wrong)}`);
  }
  await readStored(0);
  await client.walk(client.toFirst(100));

  const stored = history.pages.at(-1)?.pets.length ?? 0;
  const answered = history.creates.filter(({ id }) => id !== undefined).length;
  const unanswered = history.creates.length - answered;
  t.diagnostic(
    `${kills} kills (${tally(revivals)}), ${answered} creates acknowledged and kept, ${unanswered} not answered, of which ${stored - answered} are kept; ${repetitions} repeated`,
  );
  t.diagnostic(describeReady(revivals));
  assert.deepEqual(wrong, []);
  assert.deepEqual(findViolations(history), []);
  assert.ok(answered >= creates, `${answered} creates`);
  assert.ok(unanswered > 0, 'no kill came during the creates');
  assert.ok(revivals.every(({ readyMs }) => readyMs < READY_MS_MAX));
}

export function tally(revivals: readonly Revival[]): string {
  const groups = Object.entries(Object.groupBy(revivals, ({ struck }) => struck));
  return groups.map(([struck, all = []]) => `${struck} ${all.length}`).join(', ');
}

export function describeReady(revivals: readonly Revival[]): string {
  const sorted = revivals.map(({ readyMs }) => Math.round(readyMs)).sort((a, b) => a - b);
  const late = sorted.filter((ms) => ms >= READY_MS_BAR).length;
  return `ready again: median ${sorted[sorted.length >> 1]} ms, slowest ${sorted.at(-1)} ms, ${late} of ${sorted.length} later than ${READY_MS_BAR} ms`;
}
