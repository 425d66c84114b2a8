/** The rights of the role of a service, on a server with roles, which PGlite lacks. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { LAYOUT } from '../../src/storage/migrations.ts';
import { openStore } from '../../src/storage/open.ts';
import { RIGHTS } from '../../src/storage/tables.ts';
import { IDEMPOTENCY_MS } from '../../src/store.ts';
import { OLDER_LAYOUT } from '../support/older-store.ts';
import { queryOnce, startCluster } from '../support/postgres-cluster.ts';
import { assertRefused, runProgram, startService } from '../support/program.ts';
import { until } from '../support/until.ts';
import * as petstore from './petstore.ts';

const DOCUMENT = readFileSync(new URL('../../docs/postgresql.md', import.meta.url), 'utf8');
/** The grants for a service. */
const GRANTS = /^grant usage on schema public [^`]+/m.exec(DOCUMENT)?.[0] ?? '';

const cluster = await startCluster();
after(() => cluster[Symbol.asyncDispose]());
const address = cluster.url().replace('//postgres@', '//petstore@');

const asOwner = (sql: string) => queryOnce(cluster.url(), sql);
const run = (...args: string[]) =>
  runProgram([...args, '--database', address], { cwd: cluster.folder });
const serve = () => run('serve', '--port', '0');

await (await openStore(cluster.url(), { create: true })).close();
await asOwner('create role petstore login');

test('rights › the documented grants › are enough to serve and to purge', async () => {
  await asOwner(GRANTS);
  const expired = Date.now() - 2 * IDEMPOTENCY_MS;
  await asOwner(`insert into idempotency_keys values (1, 'expired', ${expired}, 1)`);
  await using service = await startService(['--database', address], { cwd: tmpdir() });
  await petstore.create(service, service.key, 'Rex');
  const listKept = async () => (await asOwner('select from idempotency_keys')).rowCount;
  await until(async () => (await listKept()) === 0);
  const used = 'select from api_keys where last_used_at is not null';
  await until(async () => (await asOwner(used)).rowCount === 1);
  assert.equal(service.output.stderr.match(/"level":"(?:warn|error)"/), null);
});

test('rights › each documented right that is missing › ends the start with its grant', async () => {
  const rights = [...GRANTS.matchAll(/^grant ([a-z, ]+) on (\w+) to petstore;$/gm)].flatMap(
    ([, privileges = '', table = '']) => privileges.split(', ').map((each) => [each, table]),
  );
  assert.equal(rights.length, RIGHTS.flatMap(([, each]) => each).length);
  for (const [right, table] of rights) {
    await asOwner(`revoke ${right} on ${table} from petstore`);
    const grant = `grant ${right} on ${table} to petstore`;
    await assert.rejects(openStore(address, { create: true, isServed: true }), {
      name: 'PetstoreError',
      message: `the role petstore needs more rights on the database: set search_path = 'public'; ${grant}`,
    });
    await asOwner(grant);
  }
});

test('rights › not restored, as the indexes are not › are not asked for', async () => {
  await asOwner('alter index pets_pkey rename to missing; revoke all on pets from petstore');
  const line = 'lacks an index: its restore did not end, or somebody dropped it: pets_pkey';
  assertRefused(await serve(), 1, `the database ${line}`);
  await asOwner(`alter index missing rename to pets_pkey; ${GRANTS}`);
});

test('rights › without usage of the schema › ends the start with 1 and where the rights are', async () => {
  await asOwner('revoke usage on schema public from public, petstore');
  const line =
    'the database has no schema that this user may use: see the rights in docs/postgresql.md';
  assertRefused(await serve(), 1, line);
  await asOwner('grant usage on schema public to public, petstore');
});

test('rights › only to select › is enough to read, and a start names every grant', async () => {
  const tables = RIGHTS.map(([name]) => name);
  await asOwner(`revoke all on ${tables} from petstore; grant select on ${tables} to petstore`);
  assertRefused(
    await serve(),
    1,
    "the role petstore needs more rights on the database: set search_path = 'public'; grant insert, update on api_keys to petstore; grant update on api_keys_id to petstore; grant delete, insert, update on idempotency_keys to petstore; grant insert on pets to petstore; grant update on pets_id to petstore",
  );
  for (const args of [
    ['keys', 'list'],
    ['pets', 'list'],
    ['backup', 'backup.db'],
  ]) {
    assert.equal((await run(...args)).status, 0);
  }
});

test('rights › of a schema of its own › are granted by the printed SQL, wherever it is pasted', async () => {
  const query = '?options=-csearch_path%3Dshop';
  await asOwner('create schema shop; grant usage on schema shop to petstore');
  await (await openStore(cluster.url() + query, { create: true })).close();
  const open = () => openStore(address + query, { create: true, isServed: true });
  const message = await open().then(String, String);
  await asOwner(message.replace(/^.* on the database: /, ''));
  await (await open()).close();
});

test('rights › an older layout that the role may not migrate › is told as a pending upgrade', async () => {
  await asOwner(GRANTS);
  await asOwner(`update petstore_schema set version = ${OLDER_LAYOUT}`);
  assertRefused(
    await serve(),
    1,
    `the upgrade of the database from layout ${OLDER_LAYOUT} to ${LAYOUT} is pending: run petstore migrate as the owner of its tables`,
  );
});
