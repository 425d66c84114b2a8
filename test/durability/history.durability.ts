/** Histories of many clients and processes, with kills between them, have no violation. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../src/cli/pet-file/sample.ts';
import { PET_STATUSES } from '../../src/pet.ts';
import { type Client, createClient, type PageLocation } from './client.ts';
import { describeReady, tally } from './crash.ts';
import { createHistory } from './history.ts';
import { findViolations } from './history-checker.ts';
import { SEED } from './random.ts';
import type { Revival, Subject } from './subject.ts';
import { startOnPostgres } from './subject-postgres.ts';
import { startOnSqlite } from './subject-sqlite.ts';

const KILLS = Number(process.env.TEST_CRASH_HISTORY_KILLS ?? 8);
const CLIENTS = 20;
const PAUSE_MS = 20;
/** The time between two kills, at least and at most. */
const CALM_MS = [200, 800] as const;
/** A get is for one of so many pets that were added last. */
const RECENT = 20;
const LIMITS = [1, 7, 20, 100] as const;
const STATUSES = [undefined, ...PET_STATUSES] as const;

/** Starts clients, each of which sends random requests, one after the other, until it is stopped. */
function startClients(subject: Subject, client: Client) {
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
    for (let count = 0; !isStopped; count += 1) {
      const chance = random();
      if (chance < 0.45) await create(`client ${place} ${count}`);
      else if (chance < 0.65) await client.get(pick(recent.slice(-RECENT)) ?? 1);
      else if (chance < 0.9) tail = (await client.list(tail)) ?? tail;
      else if (chance < 0.97) await client.list(client.toFirst(pick(LIMITS), pick(STATUSES)));
      else tail = await client.walk(client.toFirst(100, pick(STATUSES)));
    }
  }

  const running = Array.from({ length: CLIENTS }, (_, place) => run(place));
  return {
    /** Resolves when the last answer is recorded. */
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

async function observe(t: TestContext, subject: Subject): Promise<void> {
  const history = createHistory();
  const wrong: string[] = [];
  const client = createClient(subject, history, wrong);
  const clients = startClients(subject, client);
  const revivals: Revival[] = [];
  try {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const [least, most] = CALM_MS;
      await sleep(least + subject.random() * (most - least));
      const revive = await subject.strike();
      revivals.push(await revive());
    }
    await sleep(CALM_MS[0]);
  } finally {
    await clients.stop();
  }
  for (const status of STATUSES) await client.walk(client.toFirst(100, status));
  subject.assertSound();
  const { creates, gets, pages, walks } = history;
  const answered = creates.filter(({ id }) => id !== undefined).length;
  t.diagnostic(
    `${KILLS} kills (${tally(revivals)}), ${answered} of ${creates.length} creates answered, ${gets.length} gets, ${pages.length} pages, ${walks.length} walks of ${walks.flatMap((walk) => walk.pages).length} pages`,
  );
  t.diagnostic(describeReady(revivals));
  // A history of hardly an answer would have no violation, whatever the store does.
  assert.ok(answered > creates.length / 2, `${answered} of ${creates.length} creates`);
  for (const read of [gets, pages, walks]) assert.ok(read.length >= KILLS, `${read.length} reads`);
  assert.deepEqual(wrong, []);
  assert.deepEqual(findViolations(history), []);
}

const SUBJECTS = {
  'a service on SQLite': () => startOnSqlite(1, createRandom(SEED)),
  'two workers on SQLite': () => startOnSqlite(2, createRandom(SEED)),
  'two replicas on PostgreSQL': () => startOnPostgres(2, createRandom(SEED)),
};

for (const [name, start] of Object.entries(SUBJECTS)) {
  test(`history of ${name} › ${CLIENTS} clients during ${KILLS} kills › is one of a store that loses nothing`, async (t) => {
    t.diagnostic(`TEST_CRASH_SEED=${SEED}`);
    await using subject = await start();
    await observe(t, subject);
  });
}
