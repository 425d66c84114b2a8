/** The address of a store: what it names, whether that is in memory, and that no secret of it is shown. */

import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { describeAddress, parseAddress } from '../../src/storage/address.ts';

for (const file of ['store.db', 'a:b\nc.db', ':memory:']) {
  test(`parseAddress › ${JSON.stringify(file)} › is a file`, () => {
    assert.deepEqual(parseAddress(`sqlite:${file}`), { kind: 'sqlite', file });
  });
}

for (const address of ['', 'sqlite:', 'store.db', 'mysql://rex:s3cr3t@h/db']) {
  test(`parseAddress › ${JSON.stringify(address)} › is refused without repeating it`, () => {
    assert.throws(() => parseAddress(address), {
      ...{ name: 'PetstoreError', code: 'bad_request' },
      message:
        'the database must be sqlite:FILE, sqlite::memory: or postgres://USER:PASSWORD@HOST/NAME',
    });
  });
}

const ALL =
  'application_name, host, options, password, pgbouncer, port, sslcert, sslkey, sslmode, sslrootcert, target_session_attrs, user';
for (const query of [
  '?sslmod=verify-full',
  '?sslmode=require&pgBouncer=true',
  '?ssl%6Dde=require',
  '?sslmode=verify-full&sslmode=disable',
  '?password=half&s3cr3t',
]) {
  test(`parseAddress › ${query} › is refused`, () => {
    assert.throws(() => parseAddress(`postgresql://rex:s3cr3t@a:1,[::1]/pets${query}`), {
      ...{ name: 'PetstoreError', code: 'bad_request' },
      message: `the database has an unknown parameter, or a parameter twice: it may have ${ALL}`,
    });
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
