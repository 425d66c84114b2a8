/** kill -9 at random moments during creates: every acknowledged pet is stored once, as it was sent. */

import { test } from 'node:test';
import { createRandom } from '../../src/cli/pet-file/sample.ts';
import { crash } from './crash.ts';
import { SEED } from './random.ts';
import { startOnPostgres } from './subject-postgres.ts';
import { startOnSqlite } from './subject-sqlite.ts';

const KILLS = Number(process.env.TEST_CRASH_KILLS ?? 50);
const CREATES = Number(process.env.TEST_CRASH_CREATES ?? 10_000);
const CLIENTS = 32;

const SUBJECTS = {
  'a service on SQLite': () => startOnSqlite(1, createRandom(SEED)),
  'two workers on SQLite': () => startOnSqlite(2, createRandom(SEED)),
  'a PostgreSQL under a service': () => startOnPostgres(1, createRandom(SEED)),
};

for (const [name, start] of Object.entries(SUBJECTS)) {
  test(`kill -9 of ${name} › ${KILLS} times during creates › loses, doubles and renumbers none`, async (t) => {
    t.diagnostic(`TEST_CRASH_SEED=${SEED}`);
    await using subject = await start();
    await crash(t, subject, { kills: KILLS, creates: CREATES, clients: CLIENTS });
  });
}
