/** Runs requests of many clients while processes are killed, and checks their history and the database. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PET_STATUSES } from '../../src/pet.ts';
import { until } from '../support/until.ts';
import { type Client, createClient, type PageLocation } from './client.ts';
import { createHistory, type History } from './history.ts';
import { findViolations } from './history-checker.ts';
import type { Subject } from './subject.ts';

/** The kill comes within this time after the last counted answer. */
const STRIKE_MS_MAX = 20;
const PAUSE_MS = 20;

/** A get is for one of so many pets that were added last. */
const RECENT = 20;
const LIMITS = [1, 7, 20, 100] as const;
const STATUSES = [undefined, ...PET_STATUSES] as const;

export interface CrashOptions {
  readonly kills: number;
  /** The least number of acknowledged creates. */
  readonly creates: number;
  readonly clients: number;
  /** The part of the requests that are reads, from 0 to 1. */
  readonly reads: number;
}

/** Creates and reads, kills, and compares what was acknowledged with what is stored, `kills` times. */
export async function crash(
  t: TestContext,
  subject: Subject,
  { kills, creates, clients: count, reads }: CrashOptions,
): Promise<void> {
  const history = createHistory();
  const wrong: string[] = [];
  const client = createClient(subject, history, wrong);
  let last = 0;

  /** Resolves after so many more acknowledged creates, and a moment. */
  async function waitForCreates(quota: number): Promise<void> {
    const goal = countAnswered(history) + quota;
    await until(() => {
      assert.deepEqual(wrong, []);
      return countAnswered(history) >= goal;
    });
    await sleep(subject.random() * STRIKE_MS_MAX);
  }

  async function readStored(after: number): Promise<void> {
    const from = performance.now();
    const pets = await subject.readStored(after);
    const to = performance.now();
    history.pages.push({ from, to, after, limit: Infinity, pets, hasNext: false });
    last = pets.at(-1)?.id ?? last;
  }

  const clients = startClients(subject, client, count, reads);
  try {
    for (let round = 1; round <= kills; ) {
      const share = Math.max(0, creates - countAnswered(history)) / (kills - round + 1);
      // A different moment in each round.
      await waitForCreates(Math.ceil(round === kills ? share : share * 2 * subject.random()));
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
  const { gets, pages, walks } = history;
  t.diagnostic(
    `${countAnswered(history)} creates acknowledged, ${gets.length} gets, ${pages.length} pages, ${walks.length} walks`,
  );
  assert.deepEqual(wrong, []);
  assert.deepEqual(findViolations(history), []);
  assertBusy(history, creates, reads > 0 ? kills : 0);
}

/** Starts clients, each of which sends random requests, one after the other, until it is stopped. */
function startClients(subject: Subject, client: Client, count: number, reads: number) {
  const { random } = subject;
  const recent: number[] = [];
  let isStopped = false;

  const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T;

  async function create(name: string): Promise<void> {
    const planned = client.plan(name, pick(STATUSES));
    const isRepeatable = random() < 1 / 2;
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
      if (chance < 0.36) await client.get(pick(recent.slice(-RECENT)) ?? 1);
      else if (chance < 0.82) tail = (await client.list(tail)) ?? tail;
      else if (chance < 0.95) await client.list(client.toFirst(pick(LIMITS), pick(STATUSES)));
      else tail = await client.walk(client.toFirst(100, pick(STATUSES)));
    };
    for (let count = 0; !isStopped; count += 1) {
      if (random() < reads) await read(random());
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

/** A history of hardly an answer would have no violation, whatever the store does. */
function assertBusy(history: History, creates: number, reads: number): void {
  const answered = countAnswered(history);
  assert.ok(answered >= creates, `${answered} creates`);
  const { gets, pages, walks } = history;
  for (const read of [gets, pages, walks]) assert.ok(read.length >= reads, `${read.length} reads`);
}
