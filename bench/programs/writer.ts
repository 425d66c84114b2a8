/** Keeps committing to databases of SQLite, without a change to what is served. */

import { DatabaseSync } from 'node:sqlite';

/** Shorter than a list takes. */
const PAUSE_MS = 0.05;
/** With fewer, the same page could be requested twice between two commits, and come from the cache. */
const COMMITS_PER_SECOND_MIN = 200;
const BUSY_MS_MAX = 5_000;

const writes = process.argv.slice(2).map((file) => {
  const database = new DatabaseSync(file, { timeout: BUSY_MS_MAX });
  // The disk is not measured here.
  database.exec('pragma synchronous = off');
  // An update that changes no value would commit nothing.
  return database.prepare('update api_keys set last_used_at = coalesce(last_used_at, 0) + 1');
});
const clock = new Int32Array(new SharedArrayBuffer(4));

for (;;) {
  const end = performance.now() + 1_000;
  let commits = 0;
  while (performance.now() < end) {
    for (const write of writes) write.run();
    commits += 1;
    Atomics.wait(clock, 0, 0, PAUSE_MS);
  }
  if (commits < COMMITS_PER_SECOND_MIN) throw new Error(`only ${commits} commits in a second`);
}
