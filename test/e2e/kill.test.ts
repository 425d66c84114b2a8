/** A few kills during creates; `npm run suite crash` has many, of more kinds, on both engines. */

import { test } from 'node:test';
import { crash } from '../durability/crash.ts';
import { startOnSqlite } from '../durability/subject.ts';

const KILLS = 3;
const CREATES = 600;
const CLIENTS = 32;

test(`kill -9 › ${KILLS} times during creates › loses, doubles and renumbers none`, async (t) => {
  await using subject = await startOnSqlite(1);
  await crash(t, subject, { kills: KILLS, creates: CREATES, clients: CLIENTS, reads: 0 });
});
