/** Every end of every command on PostgreSQL, also with a server that is killed. */

import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { FILES, type Row, WRITES } from '../cli/command-ends.ts';
import { assertEnd, startHeld, testOnPostgres } from '../cli/ends-on-postgres.ts';
import { NO_SESSIONS } from '../support/postgres.ts';
import { type Cluster, queryOnce, startCluster } from '../support/postgres-cluster.ts';
import { within } from '../support/until.ts';

testOnPostgres([...WRITES, ...FILES]);

describe('commands whose server is killed', { skip: NO_SESSIONS }, () => {
  let cluster: Cluster;
  before(async () => {
    // Else a crash could lose commits.
    cluster = await startCluster({ settings: { synchronous_commit: 'on' } });
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  async function killServerUnder(rows: readonly Row[]) {
    await using stack = new AsyncDisposableStack();
    const hold = async (row: Row) => {
      const name = `killed_${randomUUID().replaceAll('-', '')}`;
      await queryOnce(
        cluster.url(),
        `create database ${name} template template0 strategy file_copy`,
      );
      return { row, program: stack.use(await startHeld(row, cluster.url(name))) };
    };
    const held = await Promise.all(rows.map(hold));
    await cluster.stop('SIGKILL');
    await cluster.start();
    const ended = held.map(async ({ row, program }) => {
      await program.release();
      return { row, ...(await within(program.finished)), seen: await program.look() };
    });
    return await Promise.all(ended);
  }

  const rows = [...WRITES, ...FILES];
  // Few at a time: the statement of a command waits for 4 s.
  for (let at = 0; at < rows.length; at += 4) {
    const some = rows.slice(at, at + 4);
    const titles = some.map(({ title }) => title).join(', ');
    test(`${titles} › while they commit or read › say what is known`, async () => {
      for (const { row, ...finished } of await killServerUnder(some)) {
        assertEnd(row, { status: 1, isDone: false }, finished);
      }
    });
  }
});
