/** Databases that cannot be opened, on a server with logins and rights, which PGlite lacks. */

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import { listMessages } from '../support/list-messages.ts';
import { type Cluster, queryOnce, startCluster } from '../support/postgres-cluster.ts';

const PASSWORD = 's3cr3t';

let cluster: Cluster;

before(async () => {
  cluster = await startCluster();
  await queryOnce(cluster.url(), 'create database pets');
  await queryOnce(cluster.url(), `create role rex login password '${PASSWORD}'`);
  await queryOnce(cluster.url(), 'create role barred login');
  const file = join(cluster.folder, 'data/pg_hba.conf');
  const rules = 'host all rex all scram-sha-256\nhost all barred all reject\n';
  await writeFile(file, rules + (await readFile(file, 'utf8')));
  await queryOnce(cluster.url(), 'select pg_reload_conf()');
});

after(() => cluster?.[Symbol.asyncDispose]());

for (const [what, login, database, message] of [
  ['a wrong password', `rex:not-${PASSWORD}`, 'pets', 'refuses this user or its password'],
  ['no password', 'rex', 'pets', 'asks for a password: the address has none'],
  ['a user that is not known', `tom:${PASSWORD}`, 'pets', 'refuses this user'],
  ['a user that is barred', `barred:${PASSWORD}`, 'pets', 'refuses this user'],
  ['a database that is not there', 'postgres', 'cats', 'is not there: make it with createdb'],
  [
    'a user who may not make tables',
    `rex:${PASSWORD}`,
    'pets',
    'does not let this user do what is needed: see the rights in docs/postgresql.md',
  ],
] as const) {
  test(`openStore › ${what} › is one line without an address or a password`, async () => {
    const address = `postgres://${login}@127.0.0.1:${cluster.port}/${database}`;
    await assert.rejects(openStore(address, { create: true }), (error: Error) => {
      assert.deepEqual([error.name, error.message], ['PetstoreError', `the database ${message}`]);
      assert.doesNotMatch(listMessages(error).join(), new RegExp(`postgres://|${PASSWORD}`));
      return true;
    });
    if (database === 'cats') return;
    const { rows } = await queryOnce(
      cluster.url(database),
      `select tablename from pg_tables where schemaname = 'public'`,
    );
    assert.deepEqual(rows, []);
  });
}
