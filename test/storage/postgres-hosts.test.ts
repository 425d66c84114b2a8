/** Addresses of PostgreSQL: the hosts, the login and the options that each names, and which ones are refused. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { PetstoreError } from '../../src/error.ts';
import { parseAddress } from '../../src/storage/address.ts';
import { NO_TLS } from '../../src/storage/postgres/errors.ts';
import { createSocket, parseHosts, tryHosts } from '../../src/storage/postgres/hosts.ts';
import { listMessages } from '../support/list-messages.ts';
import { assertRefused, runProgram } from '../support/program.ts';
import { listen } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { countTimers } from '../support/timers.ts';

const UNAVAILABLE = { name: 'PetstoreError', code: 'unavailable' };

const login = { user: 'rex', password: 'p', port: 5432 };

for (const [address, ...expected] of [
  ['postgres://rex:p@h/pets', { ...login, host: 'h', database: 'pets' }],
  ['postgres://rex:p@h:65535', { ...login, host: 'h', port: 65_535, database: '' }],
  [
    'postgres://r%C3%A9x:%40p%2B+%25@h/my%20pets',
    { ...login, user: 'réx', password: '@p++%', host: 'h', database: 'my pets' },
  ],
  ['postgres:///pets', { ...login, user: '', password: '', host: '', database: 'pets' }],
  ['postgres://rex:p@/pets?host=/run/pg', { ...login, host: '/run/pg', database: 'pets' }],
  ['postgres://rex:p@%2Frun%2Fpg/pets', { ...login, host: '/run/pg', database: 'pets' }],
  [
    'postgres://h/pets?user=rex&password=p&port=1',
    { ...login, host: 'h', port: 1, database: 'pets' },
  ],
  [
    'postgres://rex:p@a:1,b,[::1]:3/pets',
    { ...login, host: 'a', port: 1, database: 'pets' },
    { ...login, host: 'b', database: 'pets' },
    { ...login, host: '::1', port: 3, database: 'pets' },
  ],
] as const) {
  test(`parseHosts › ${address} › is understood`, () => {
    const found = parseHosts(address).configs.map(({ host, port, user, password, database }) =>
      JSON.parse(JSON.stringify({ host, port, user, password, database })),
    );
    assert.deepEqual(found, expected);
  });
}

const MALFORMED =
  'the database must be postgres://USER:PASSWORD@HOST:PORT/NAME, with a PORT up to 65535, and % escapes';
for (const [address, message = MALFORMED] of [
  ['postgres:pets'],
  ['postgres://h:0/pets'],
  ['postgres://h/pets?port=65536'],
  ['postgres://[::1/pets'],
  ['postgres://h/pets/cats'],
  ['postgres://rex:p#p@h/pets'],
  ['postgres://rex:1?p@h/pets'],
  ['postgres://rex:p@p@h/pets'],
  ['postgres://rex:p%zz@h/pets'],
  ['postgres://rex:p%3A p@h/pets'],
  // A text behind a wrong ? may be a password, so no message may repeat it.
  ['postgres://rex:1?sslmod@h/pets'],
  ['postgres://h/pets?sslmode=no-verify', 'sslmode must be one of disable, prefer, require, '],
  ['postgres://h/pets?sslmode=require&channel_binding=require', 'channel_binding is not supported'],
  ['postgres://h/pets?sslmode=verify-ca', 'sslmode=verify-ca needs an sslrootcert'],
  ['postgres://h/pets?target_session_attrs=standby', 'one of any, read-write, primary'],
  ['postgres://h/pets?pgbouncer=yes', 'pgbouncer must be one of false, true'],
] as const) {
  test(`parseAddress › ${address} › is refused and not repeated`, () => {
    assert.throws(
      () => parseAddress(address),
      (error: Error & { code: string }) => {
        assert.equal(error.code, 'bad_request');
        assert.ok(error.message.includes(message), error.message);
        assert.ok(!listMessages(error).some((text) => text.includes(address)));
        return true;
      },
    );
  });
}

const DEFAULT = { ssl: { rejectUnauthorized: false }, mustWrite: false, isPooled: false };
for (const [rest, expected] of [
  ['h/pets', {}],
  ['h/pets?sslmode=disable', { ssl: false }],
  ['h/pets?sslmode=require', {}],
  ['h/pets?sslmode=verify-full', { ssl: { rejectUnauthorized: true } }],
  ['h/pets?target_session_attrs=any', {}],
  ['h/pets?target_session_attrs=read-write', { mustWrite: true }],
  ['h,i/pets', { mustWrite: true }],
  ['h,i/pets?target_session_attrs=any', { mustWrite: true }],
  ['h/pets?pgbouncer=true', { isPooled: true }],
] as const) {
  test(`parseHosts › the options of ${rest}, only to read › are ${JSON.stringify(expected)}`, () => {
    const { configs, mustWrite, isPooled } = parseHosts(`postgres://${rest}`, true);
    const found = JSON.parse(JSON.stringify({ ssl: configs[0]?.ssl, mustWrite, isPooled }));
    assert.deepEqual(found, { ...DEFAULT, ...expected });
  });
}

test('an address without a user › where the environment has no USER › is told as that', async () => {
  const args = ['pets', 'list', '--database', 'postgres://127.0.0.1:1/pets'];
  const cwd = createProcessFolder();
  const found = await runProgram(args, { cwd, env: { USER: '', USERNAME: '' } });
  const form = 'write postgres://USER:PASSWORD@HOST/NAME';
  assertRefused(found, 1, `the address of the database names no user: ${form}`);
});

test('createSocket › a host that is found, and one that is given up › leave no timer', async () => {
  await using server = createServer();
  const port = await listen(server);
  const timers = countTimers();
  const found = createSocket(60_000).connect(port, '127.0.0.1');
  await once(found, 'connectionAttempt');
  const givenUp = createSocket(60_000);
  assert.equal(countTimers(), timers + 1);
  for (const socket of [found, givenUp]) await once(socket.destroy(), 'close');
  assert.equal(countTimers(), timers);
});

const refuse = async () => {
  throw new PetstoreError('unavailable', 'no');
};

test('tryHosts › no host answers › tries each once, and begins with the next one afterwards', async () => {
  const hosts = parseHosts('postgres://a,b,c/pets');
  const tried: unknown[] = [];
  const connect = () => {
    tried.push(hosts.configs[0]?.host);
    return refuse();
  };
  await assert.rejects(tryHosts(hosts, connect), UNAVAILABLE);
  assert.deepEqual(tried, ['a', 'b', 'c']);
});

test('tryHosts › the first host is silent for too long › leaves the next one to the next call', async () => {
  const hosts = parseHosts('postgres://a,b/pets');
  let tries = 0;
  const connect = async () => {
    tries += 1;
    await setTimeout(20);
    return refuse();
  };
  await assert.rejects(tryHosts(hosts, connect, 10), UNAVAILABLE);
  assert.deepEqual([tries, hosts.configs[0]?.host], [1, 'b']);
});

test('tryHosts › a host that had no TLS, and then lets in only users with TLS › gets TLS again', async () => {
  const hosts = parseHosts('postgres://a/pets');
  const failures = [new Error(NO_TLS), Object.assign(new Error('no'), { code: '28000' })];
  const used: boolean[] = [];
  const connect = async () => {
    used.push(hosts.configs[0]?.ssl !== false);
    for (const failure of failures.splice(0, 1)) throw failure;
  };
  await assert.rejects(tryHosts(hosts, connect), UNAVAILABLE);
  await tryHosts(hosts, connect);
  assert.deepEqual(used, [true, false, true]);
});

test('tryHosts › several calls at once, the first host is dead › all get the second', async () => {
  const hosts = parseHosts('postgres://a,b/pets');
  const connect = async () => {
    const host = hosts.configs[0]?.host;
    await setTimeout(1);
    return host === 'a' ? refuse() : host;
  };
  const connected = await Promise.all([1, 2, 3].map(() => tryHosts(hosts, connect)));
  assert.deepEqual(connected, ['b', 'b', 'b']);
  assert.equal(hosts.configs[0]?.host, 'b');
});
