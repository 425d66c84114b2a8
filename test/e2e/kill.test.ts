/** A few kills during creates; `npm run suite crash` has many, of more kinds, on both engines. */

import { test } from 'node:test';
import { crash } from '../durability/crash.ts';
import { startOnSqlite } from '../durability/subject.ts';

test('kill -9 › twice during creates › loses, doubles and renumbers none', async (t) => {
  await using subject = await startOnSqlite(1);
  await crash(t, subject, { kills: 2, creates: 300, clients: 32, reads: 0 });
});
