/** The address of a store: what it names, which are refused, and that no secret of it is shown. The hosts of PostgreSQL in it. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { PetstoreError } from '../../src/error.ts';
import { describeAddress, parseAddress } from '../../src/storage/address.ts';
import { NO_TLS } from '../../src/storage/postgres/errors.ts';
import { createSocket, parseHosts, tryHosts } from '../../src/storage/postgres/hosts.ts';
import { listMessages } from '../support/list-messages.ts';
import { assertRefused, runProgram } from '../support/program.ts';
import { listen } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { countTimers } from '../support/timers.ts';

for (const file of ['store.db', 'a:b\nc.db', ':memory:']) {
  test(`parseAddress › ${JSON.stringify(file)} › is a file`, () => {
    assert.deepEqual(parseAddress(`sqlite:${file}`), { kind: 'sqlite', file });
  });
}

const FORMS =
  'the database must be sqlite:FILE, sqlite::memory: or postgres://USER:PASSWORD@HOST/NAME';
const MALFORMED =
  'the database must be postgres://USER:PASSWORD@HOST:PORT/NAME, with a PORT up to 65535, and % escapes for special characters in USER, PASSWORD and NAME';
const UNKNOWN =
  'the database has an unknown parameter, or a parameter twice: it may have application_name, host, options, password, pgbouncer, port, sslcert, sslkey, sslmode, sslrootcert, target_session_attrs, user';
for (const [address, message = MALFORMED] of [
  ['', FORMS],
  ['sqlite:', FORMS],
  ['store.db', FORMS],
  ['mysql://rex:s3cr3t@h/db', FORMS],
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
  [
    'postgres://h/pets?sslmode=no-verify',
    'sslmode must be one of disable, prefer, require, verify-ca, verify-full',
  ],
  [
    'postgres://h/pets?sslmode=require&channel_binding=require',
    'channel_binding is not supported: leave it out, and use sslmode=verify-full',
  ],
  ['postgres://h/pets?sslmode=verify-ca', 'sslmode=verify-ca needs an sslrootcert'],
  [
    'postgres://h/pets?target_session_attrs=standby',
    'target_session_attrs must be one of any, read-write, primary',
  ],
  ['postgres://h/pets?pgbouncer=yes', 'pgbouncer must be one of false, true'],
  ['postgres://rex:s3cr3t@a:1,[::1]/pets?sslmod=verify-full', UNKNOWN],
  ['postgres://rex:s3cr3t@h/pets?sslmode=require&pgBouncer=true', UNKNOWN],
  ['postgres://rex:s3cr3t@h/pets?ssl%6Dde=require', UNKNOWN],
  ['postgres://rex:s3cr3t@h/pets?sslmode=verify-full&sslmode=disable', UNKNOWN],
  ['postgres://rex:s3cr3t@h/pets?password=half&s3cr3t', UNKNOWN],
] as const) {
  test(`parseAddress › ${address} › is refused and not repeated`, () => {
    assert.throws(
      () => parseAddress(address),
      (error: Error & { code: string }) => {
        assert.deepEqual([error.code, ...listMessages(error)], ['bad_request', message]);
        return true;
      },
    );
  });
}

for (const [address, shown] of [
  ['sqlite:/var/pets@home?.db', 'sqlite:/var/pets@home?.db'],
  ['sqlite:pets.db', `sqlite:${resolve('pets.db')}`],
  ['sqlite::memory:', 'sqlite::memory:'],
  ['sqlite:./:memory:', `sqlite:${resolve(':memory:')}`],
  ['postgres://h/pets', 'postgres://h/pets'],
  ['postgresql://rex:p@a:1,[::1]:2/pets?sslmode=require', 'postgresql://a:1,[::1]:2/pets'],
  ['postgres:///pets?host=/run/pg&password=p', 'postgres:///pets'],
] as const) {
  test(`describeAddress › ${address} › is ${shown}`, () => {
    assert.equal(describeAddress(address), shown);
  });
}

test('describeAddress › any login and options, escaped or not › are not shown', () => {
  const special = fc.constantFrom(...'@/?#:%&=, \n', '%40', '%2F', '//', 'é', '\u{1f436}');
  // No part of another text holds a piece of it.
  const secret = fc.array(special).map((parts) => `s3cr3t${parts.join('s3cr3t')}s3cr3t`);
  const show = (address: string) => {
    try {
      return describeAddress(address);
    } catch (error) {
      return String(error);
    }
  };
  const writing = fc.constantFrom(encodeURIComponent, (text: string) => text);
  fc.assert(
    fc.property(secret, secret, secret, writing, (user, password, option, write) => {
      for (const login of [`${write(user)}:${write(password)}@`, `${write(user)}@`]) {
        const query = `?password=${write(option)}&options=${write(option)}`;
        const shown = show(`postgres://${login}h:1,g/pets${query}`);
        assert.doesNotMatch(shown, /s3cr3t/);
        assert.ok(write !== encodeURIComponent || shown === 'postgres://h:1,g/pets', shown);
      }
    }),
  );
});

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
