/** A database that is far away: each byte takes 0.1 s to it and from it, and a connection has TLS and a password. */

import assert from 'node:assert/strict';
import { chownSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createCertificate } from '../support/certificate.ts';
import { type Cluster, findAccount, queryOnce } from '../support/postgres-cluster.ts';
import { assertRefused, runProgram } from '../support/program.ts';
import { startProxy } from '../support/proxy.ts';
import * as petstore from './petstore.ts';

/** A connection takes five round trips and more: longer than the default of --database-timeout. */
const DELAY_MS = 100;
const RUN = { cwd: tmpdir() };

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const cluster = stack.use(await petstore.startDatabase());
await startTls(cluster);
const proxy = stack.use(await startProxy(petstore.toAddress([petstore.toHost(cluster)]), DELAY_MS));
const address = `${proxy.address}?sslmode=require`;

async function startTls({ folder, url }: Cluster): Promise<void> {
  const data = join(folder, 'data');
  createCertificate(data, 'db');
  mkdirSync(join(data, 'other'));
  createCertificate(join(data, 'other'), 'db');
  const { uid, gid } = findAccount() ?? {};
  if (uid !== undefined && gid !== undefined) chownSync(join(data, 'server.key'), uid, gid);
  await queryOnce(url(), 'alter system set ssl = on');
  await queryOnce(url(), 'select pg_reload_conf()');
}

test('a far database › --database-timeout 3, an address without sslmode › is served, by TLS, which it offers', async () => {
  await using service = await petstore.startReplica(proxy.address, ['--database-timeout', '3']);
  const id = await petstore.create(service, service.key, 'Rex');
  assert.deepEqual(await petstore.listAll(service, service.key), [[id, 'Rex']]);
  const { rows } = await queryOnce(
    cluster.url(),
    `select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'petstore'`,
  );
  assert.deepEqual(rows, [{ ssl: true }]);
});

test('a far database › commands › reach it', async () => {
  const listed = await runProgram(['keys', 'list', '--database', address], RUN);
  assert.match(listed.stdout, /^ID .*\n.*first/);
  assert.equal(listed.status, 0);
});

test('a far database › the time of requests is too short › ends the start after --start-timeout, and says why', async () => {
  const args = ['serve', '--port', '0', '--start-timeout', '3', '--database', address];
  const { status, stderr } = await runProgram(args, RUN);
  assert.equal(status, 1, stderr);
  assert.match(stderr, /^petstore: the database cannot be reached or does not answer in time\n$/m);
});

for (const [query, reason] of [
  ['sslmode=verify-full', 'shows a certificate that is not trusted'],
  ['sslmode=verify-full&sslrootcert=server.crt', 'shows a certificate for another host'],
  ['sslmode=require&sslrootcert=other/server.crt', 'shows a certificate that is not trusted'],
] as const) {
  test(`a far database › ${query} › ends a command with one line`, async () => {
    const cwd = join(cluster.folder, 'data');
    const args = ['keys', 'list', '--database', `${proxy.address}?${query}`];
    assertRefused(await runProgram(args, { cwd }), 1, `the database ${reason}`);
  });
}
