/** A start while the database is away, and with an address that waiting would not mend. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { queryOnce } from '../support/postgres-cluster.ts';
import {
  assertRefused,
  type RunningProgram,
  readStart,
  runProgram,
  startProgram,
  startService,
} from '../support/program.ts';
import { listen } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';
import * as petstore from './petstore.ts';

const RUN = { cwd: tmpdir() };
const NOT_LET_IN =
  'does not let this user in: the role may not exist or lack LOGIN, or pg_hba.conf has no line for it or asks for TLS (sslmode=require)';
const CLOSED = 'takes no connections: its allow_connections is false, or its drop was interrupted';
const AWAY = 'the database cannot be reached: nothing listens there';
const NOWHERE = 'postgres://rex@127.0.0.1:1/pets';
/** Much less than the minute that a start waits by default. */
const AT_ONCE = { ...RUN, runMsMax: 20_000 };

const cluster = await petstore.startDatabase();
after(() => cluster[Symbol.asyncDispose]());
await queryOnce(cluster.url(), 'create role rex login');
await queryOnce(cluster.url(), 'create database closed allow_connections false');
const address = petstore.toAddress([petstore.toHost(cluster)]);

const serve = (database: string) => ['serve', '--port', '0', '--database', database];
const listWarnings = (program: RunningProgram) =>
  readStart(program)
    .split('\n')
    .filter((line) => line.startsWith(AWAY));

test('start › the database comes late, and goes while nobody asks › says every 5 s that it waits, serves, and logs the rest once', async () => {
  await cluster.stop();
  await using service = startProgram([...serve(address), '--workers', '2'], RUN);
  await until(() => listWarnings(service).length === 1);
  await setTimeout(4_000);
  assert.deepEqual(listWarnings(service), [`${AWAY}; trying again for 60 s`]);
  await until(() => listWarnings(service).length === 2);
  assert.match(listWarnings(service)[1] ?? '', /; trying again for 5\d s$/);
  await cluster.start();
  await until(() => / listens on /.test(readStart(service)));
  await cluster.stop();
  // The second worker may be starting: it waits as a start does.
  const listLater = () => listWarnings(service).filter((line) => !/ trying again /.test(line));
  await until(() => listLater().length > 0);
  await setTimeout(3_000);
  await cluster.start();
  await until(() => readStart(service).includes('the database is back'));
  assert.deepEqual(listLater(), [`${AWAY}; requests may be 503 until it is back`]);
});

/** AuthenticationOk and ReadyForQuery. */
const LET_IN = Buffer.from('5200000008000000005a0000000549', 'hex');
for (const [what, query, said] of [
  ['says nothing', '', ''],
  ['takes TLS, and says no more', '', 'S'],
  ['takes the user, and then no statement', '?sslmode=disable', LET_IN],
] as const) {
  test(`start › a server that ${what} › ends serve after --start-timeout, and commands after 5 s`, async () => {
    await using server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.write(said));
    });
    const database = `postgres://rex@127.0.0.1:${await listen(server)}/pets${query}`;
    const ended: string[] = [];
    const run = async (command: string, ...args: string[]) => {
      const found = await runProgram([command, ...args, '--database', database], AT_ONCE);
      assertRefused(found, 1, 'the database cannot be reached or does not answer in time');
      ended.push(command);
    };
    await Promise.all([
      run('pets', 'list'),
      run('serve', '--port', '0', '--start-timeout', '3', '--log-level', 'error'),
    ]);
    assert.deepEqual(ended, ['serve', 'pets']);
  });
}

for (const [signal, workers] of [
  ['SIGTERM', '1'],
  ['SIGINT', '1'],
  ['SIGTERM', '2'],
] as const) {
  test(`start › ${signal} while it waits, with ${workers} of --workers › ends it at once`, async () => {
    await using service = startProgram([...serve(NOWHERE), '--workers', workers], RUN);
    await until(() => listWarnings(service).length > 0);
    service.process.kill(signal);
    const { status } = await within(service.finished, AT_ONCE.runMsMax);
    assert.equal(status, 0);
  });
}

for (const [what, from, to, line] of [
  ['a wrong password', petstore.PASSWORD, 'wrong', 'refuses this user or its password'],
  ['no password', `:${petstore.PASSWORD}`, '', 'asks for a password: add it to the address'],
  ['a role that is not known', '//petstore', '//tom', NOT_LET_IN],
  ['a closed database', /petstore$/, 'closed', CLOSED],
  ['a database that is not there', /$/, 's', 'is not there: make it with createdb'],
  [
    'a role that may not make tables',
    /\/petstore:.*@(.*)\/petstore$/,
    '/rex@$1/postgres',
    'does not let this user do what is needed: see the rights in docs/postgresql.md',
  ],
] as const) {
  test(`start › ${what} › is not waited for, and ends with 1 and one line`, async () => {
    const args = serve(address.replace(from, to));
    assertRefused(await runProgram(args, AT_ONCE), 1, `the database ${line}`);
  });
}

test('start › the variables of libpq › change nothing, but for PGPASSWORD', async () => {
  const env = {
    ...{ PGHOST: 'nowhere.invalid', PGUSER: 'tom', PGDATABASE: 'pets', PGSSLMODE: 'require' },
    ...{ USER: 'petstore', PGPASSWORD: petstore.PASSWORD },
  };
  // It leaves all but the port to the defaults: localhost, and the name of the user for the database.
  await using service = startProgram(serve(`postgres://:${cluster.port}`), { ...RUN, env });
  await until(() => / listens on /.test(readStart(service)));
});

test('start › the password in .pgpass › is used, and no warning is in the log', async () => {
  const home = createProcessFolder();
  const file = join(home, '.pgpass');
  writeFileSync(file, `*:*:petstore:petstore:${petstore.PASSWORD}\n`, { mode: 0o600 });
  const args = serve(address.replace(`:${petstore.PASSWORD}`, ''));
  await using service = startProgram(args, { ...RUN, env: { HOME: home, PGPASSFILE: 'nowhere' } });
  await until(() => / listens on /.test(readStart(service)));
  for (const line of service.output.stderr.trim().split('\n')) assert.match(line, /^\{.*\}$/);
});

test("start › a clock 25 h ahead of the database's › starts, and knows the idempotency keys of others", async () => {
  const ahead = 'Date.now=(now=>()=>now()+9e7)(Date.now)';
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${ahead}` };
  await using empty = await petstore.startDatabase();
  const place = petstore.toAddress([petstore.toHost(empty)]);
  await using right = await petstore.startReplica(place);
  await using wrong = await startService(['--database', place], { ...RUN, env });
  const key = right.key + wrong.key;
  const headers = { ...petstore.toHeaders(key), 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
  const ids: unknown[] = [];
  for (const { url } of [right, wrong, right]) {
    const sent = { method: 'POST', headers: { ...headers, 'idempotency-key': 'once' }, body };
    const answer = await fetch(`${url}/v1/pets`, sent);
    assert.equal(answer.status, 201);
    ids.push(JSON.parse(await answer.text()).id);
  }
  assert.equal(new Set(ids).size, 1);
});
