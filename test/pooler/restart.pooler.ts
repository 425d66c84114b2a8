/** The PgBouncer of docs/postgresql.md while PostgreSQL is restarted. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import { startPgbouncer } from '../support/pgbouncer.ts';
import { startCluster } from '../support/postgres-cluster.ts';
import { until } from '../support/until.ts';

const DOCUMENT = new URL('../../docs/postgresql.md', import.meta.url);
/** By its default PgBouncer tries again 15 s after a failure. */
const RETURN_MS_MAX = 10_000;

async function readSettings(): Promise<Record<string, string>> {
  const [, section = ''] = (await readFile(DOCUMENT, 'utf8')).split('\n[pgbouncer]\n');
  const [lines = ''] = section.split('\n```');
  return Object.fromEntries(
    lines
      .split('\n')
      .filter((line) => !line.startsWith(';'))
      .map((line) => line.split(' = ')),
  );
}

test('the documented PgBouncer › PostgreSQL restarted › is connected to it again soon', async () => {
  const settings = await readSettings();
  assert.equal(settings.pool_mode, 'transaction');
  await using cluster = await startCluster();
  await using pgbouncer = await startPgbouncer(cluster.url(), settings);
  const address = `${pgbouncer.url}postgres?pgbouncer=true`;
  await using store = await openStore(address, { create: true });
  const isAnswered = () =>
    store.pets.find(1n).then(
      () => true,
      () => false,
    );
  await cluster.stop();
  assert.equal(await isAnswered(), false);
  await cluster.start();
  await until(isAnswered, RETURN_MS_MAX);
});
