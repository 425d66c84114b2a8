/** Runs requests of many clients while processes are killed, and checks their history and the database. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PET_STATUSES } from '../../src/pet.ts';
import { until } from '../support/until.ts';
import { type Client, createClient, type PageLocation } from './client.ts';
import { createHistory, findViolations, type History } from './history.ts';
import { dice, SEED, type Subject } from './subject.ts';

/** The kill comes within this time after the last counted answer. */
const STRIKE_MS_MAX = 20;
const PAUSE_MS = 20;

/** A get is for one of so many pets that were added last. */
const RECENT = 20;
const LIMITS = [1, 7, 20, 100] as const;
const STATUSES = [undefined, ...PET_STATUSES] as const;

interface CrashOptions {
  readonly kills: number;
  /** The least number of acknowledged creates. */
  readonly creates: number;
  readonly clients: number;
  /** So many of a hundred requests are reads. */
  readonly reads: number;
}

/** Creates and reads, kills, and compares what was acknowledged with what is stored, `kills` times. */
export async function crash(
  t: TestContext,
  subject: Subject,
  { kills, creates, clients: count, reads }: CrashOptions,
): Promise<void> {
  t.diagnostic(`TEST_CRASH_SEED=${SEED}`);
  const history = createHistory();
  const client = createClient(subject, history);
  let last = 0;

  /** Resolves after so many more acknowledged creates, and a moment. */
  async function waitForCreates(quota: number): Promise<void> {
    const goal = countAnswered(history) + quota;
    await until(() => {
      assert.deepEqual(history.wrong, []);
      return countAnswered(history) >= goal;
    });
    await sleep(dice.below(STRIKE_MS_MAX));
  }

  async function readStored(after: number): Promise<void> {
    const from = performance.now();
    const pets = await subject.readStored(after);
    const to = performance.now();
    history.pages.push({ from, to, after, limit: Infinity, pets, hasNext: false });
    last = pets.at(-1)?.id ?? last;
  }

  const clients = startClients(client, count, reads);
  try {
    for (let round = 1; round <= kills; ) {
      const share = Math.max(0, creates - countAnswered(history)) / (kills - round + 1);
      // A different moment in each round.
      await waitForCreates(round === kills ? Math.ceil(share) : dice.below(2 * share));
      const broken = history.brokenCreates;
      await subject.strike();
      await readStored(last);
      subject.assertSound();
      // On a busy machine a kill may come when all creates have their answer: then it is not counted.
      if (history.brokenCreates > broken) round += 1;
    }
  } finally {
    await clients.stop();
  }
  for (const status of STATUSES) await client.walk(client.toFirst(100, status));
  await readStored(0);
  const { gets, pages } = history;
  const answered = countAnswered(history);
  t.diagnostic(`${answered} creates acknowledged, ${gets.length} gets, ${pages.length} pages`);
  assert.deepEqual(findViolations(history), []);
  // A history of hardly an answer would have no violation, whatever the store does.
  assert.ok(answered >= creates, `${answered} creates`);
  const least = reads > 0 ? 2 * kills : 0;
  for (const read of [gets, pages]) assert.ok(read.length >= least, `${read.length} reads`);
}

/** Starts clients, each of which sends random requests, one after the other, until it is stopped. */
function startClients(client: Client, count: number, reads: number) {
  const recent: number[] = [];
  let isStopped = false;

  async function create(name: string): Promise<void> {
    const planned = client.plan(name, dice.pick(STATUSES));
    const isRepeatable = dice.onceIn(2);
    while (!(await client.create(planned, isRepeatable))) {
      await sleep(PAUSE_MS);
      if (!isRepeatable || isStopped) return;
    }
    recent.push(planned.id ?? 0);
  }

  async function run(place: number): Promise<void> {
    // The last page, which changes with each create.
    let tail: PageLocation = client.toFirst(20);
    const read = async (chance: number): Promise<void> => {
      if (chance < 36) await client.get(dice.pick(recent.slice(-RECENT)) ?? 1);
      else if (chance < 82) {
        const next = await client.list(tail);
        if (next !== undefined && next !== 'end') tail = next;
      } else if (chance < 95)
        await client.list(client.toFirst(dice.pick(LIMITS), dice.pick(STATUSES)));
      else tail = await client.walk(client.toFirst(100, dice.pick(STATUSES)));
    };
    for (let count = 0; !isStopped; count += 1) {
      if (dice.below(100) < reads) await read(dice.below(100));
      else await create(`client ${place} ${count}`);
    }
  }

  const running = Array.from({ length: count }, (_, place) => run(place));
  return {
    /** Resolves when the last answer is recorded. */
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

function countAnswered({ creates }: History): number {
  return creates.filter(({ id }) => id !== undefined).length;
}
