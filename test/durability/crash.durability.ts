/** kill -9 at random moments during requests: every acknowledged pet is stored once, as it was sent, and every read is right. */

import { test } from 'node:test';
import { crash } from './crash.ts';
import { startOnPostgres, startOnSqlite } from './subject.ts';

const KILLS = Number(process.env.TEST_CRASH_KILLS ?? 50);
const CREATES = Number(process.env.TEST_CRASH_CREATES ?? 10_000);

const MANY_CREATES = { kills: KILLS, creates: CREATES, clients: 32, reads: 0 };
const MIXED = { kills: Math.ceil(KILLS / 6), creates: CREATES / 5, clients: 20, reads: 55 };

for (const [what, start, options] of [
  ['a service on SQLite', () => startOnSqlite(1), MANY_CREATES],
  ['two workers on SQLite', () => startOnSqlite(2), MANY_CREATES],
  ['a PostgreSQL under a service', () => startOnPostgres(1), MANY_CREATES],
  ['a service on SQLite', () => startOnSqlite(1), MIXED],
  ['two workers on SQLite', () => startOnSqlite(2), MIXED],
  ['two replicas on PostgreSQL', () => startOnPostgres(2), MIXED],
] as const) {
  const during = options.reads > 0 ? 'creates and reads' : 'creates';
  test(`kill -9 of ${what} › ${options.kills} times during ${during} › loses, doubles and renumbers none`, async (t) => {
    await using subject = await start();
    await crash(t, subject, options);
  });
}
