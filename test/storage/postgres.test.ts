/** What only PostgreSQL has: opening and conflicts. */

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { LAYOUT } from '../../src/storage/migrations.ts';
import { fillStore, openStore } from '../../src/storage/open.ts';
import { IDEMPOTENCY_MS } from '../../src/store.ts';
import {
  createEmptyDatabase,
  type EmptyDatabase,
  holdInSession,
  testOnPostgres,
} from '../support/empty-database.ts';
import { listMessages } from '../support/list-messages.ts';
import { NO_SESSIONS } from '../support/postgres.ts';
import { listen } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { addOnce, REX, repeat } from './contract/data.ts';
import { age } from './contract/engines.ts';

const UNAVAILABLE = { name: 'PetstoreError', code: 'unavailable' };

/** Until a server has seen the end of a connection. */
const LEFT_MS_MAX = 1_000;

function listTables({ query }: EmptyDatabase): Promise<Record<string, unknown>[]> {
  return query(
    'select table_name, column_name from information_schema.columns where table_schema = current_schema() order by 1, 2',
  );
}

describe('openStore on postgresql', { concurrency: 4 }, () => {
  test('openStore on postgresql › four at once on an empty database › make one layout', async () => {
    await using database = await createEmptyDatabase();
    const stores = await Promise.all(Array.from({ length: 4 }, () => database.open()));
    const added = await Promise.all(stores.map((store) => store.pets.add(REX)));
    assert.deepEqual(await database.query('select version from petstore_schema'), [
      { version: String(LAYOUT) },
    ]);
    assert.equal(new Set(added.map(({ id }) => id)).size, 4);
  });

  test('openStore on postgresql › an empty database that is not to be made › is refused and left', async () => {
    await using database = await createEmptyDatabase();
    const none = {
      ...UNAVAILABLE,
      message: 'there is no petstore in this database: serve, keys create or pets import makes one',
    };
    await assert.rejects(database.open({ create: false }), none);
    const planned = fillStore(database.address, true, () => assert.fail('it has none'));
    await assert.rejects(planned, none);
    assert.deepEqual(await listTables(database), []);
  });

  test('openStore on postgresql › tables of another program › are refused and left', async () => {
    await using database = await createEmptyDatabase();
    await database.query(`create table pets (owner text); insert into pets values ('Ann')`);
    await assert.rejects(database.open(), {
      ...UNAVAILABLE,
      message: 'the database has tables of another program: use a database or a schema of its own',
    });
    assert.deepEqual(await listTables(database), [{ table_name: 'pets', column_name: 'owner' }]);
    assert.deepEqual(await database.query('select owner from pets'), [{ owner: 'Ann' }]);
  });

  test('openStore on postgresql › a name and a schema in the address › are those of its sessions', {
    skip: NO_SESSIONS,
  }, async () => {
    await using database = await createEmptyDatabase();
    const { pets: others } = await database.open();
    // The first schema of the path of others is empty.
    await database.query('create schema shop; create schema authorization current_user');
    const query = '?application_name=shop&options=-csearch_path%3Dshop';
    const { pets } = await database.open({ query });
    assert.equal(await pets.find(1n), undefined);
    const named = `select distinct application_name, to_regclass('shop.pets') is not null as is_there
      from pg_stat_activity
      where datname = current_database() and application_name in ('petstore', 'shop')`;
    assert.deepEqual(await database.query(named), [{ application_name: 'shop', is_there: true }]);
    for (const each of [pets, others]) await each.merge(repeat(3));
    for (const [schema, fail, id] of [
      ['shop', () => pets.add(REX), 4n],
      ['shop', () => database.open({ query, isServed: true }), 5n],
      ['public', () => database.open({ isServed: true }), 4n],
    ] as const) {
      await database.query(`select setval('${schema}.pets_id', 1)`);
      const { message } = await fail().catch((error) => error);
      // It is pasted into a session whose path leads elsewhere.
      const pasted = database.query(message.replace(/^.* in use: /, ''));
      await assert.doesNotReject(pasted, schema);
      const added = (schema === 'shop' ? pets : others).add(REX);
      assert.deepEqual(await added.catch(String), { ...REX, id });
    }
  });

  const encrypted = join(createProcessFolder(), 'client.key');
  const { privateKey } = generateKeyPairSync('ed25519');
  const cipher = { cipher: 'aes-256-cbc', passphrase: 'secret' };
  writeFileSync(encrypted, privateKey.export({ type: 'pkcs8', format: 'pem', ...cipher }));
  const LOGIN = 'postgres://rex:s3cr%C3%A9t@';
  for (const [what, rest, message] of [
    ['a port where nothing listens', '127.0.0.1:1/pets', 'nothing listens there'],
    ['a host that is not known', 'db.invalid/pets', '(?:its host|does not answer)'],
    ['a folder without a socket', '/pets?host=/nowhere', 'does not answer in time'],
    ['no certificate', '127.0.0.1:1/pets?sslrootcert=/no', 'sslrootcert must be PEM files'],
    ['a key with a passphrase', `127.0.0.1:1/pets?sslkey=${encrypted}`, 'without a passphrase'],
  ] as const) {
    test(`openStore on postgresql › ${what} › is one line without the login`, async () => {
      await assertOneLine(LOGIN + rest, new RegExp(message));
    });
  }

  test('openStore on postgresql › a database that is away at each try of a second › is warned of once', async () => {
    const warnings: string[] = [];
    const warn = (message: string) => warnings.push(message);
    const options = { create: true, startTimeout: 1, warn };
    const startedAt = performance.now();
    await assert.rejects(openStore(`${LOGIN}127.0.0.1:1/pets`, options), UNAVAILABLE);
    assert.ok(performance.now() - startedAt > 500);
    assert.match(warnings.join(), /^[^;]+; trying again for 1 s$/);
  });

  test('openStore on postgresql › a server that is starting › is waited for', async () => {
    const answers = ['57P03', '42501'].map((code) => `E\0\0\0\x13SFATAL\0C${code}\0\0`);
    await using server = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .resume()
        .end(answers.shift() ?? '');
    });
    const address = `${LOGIN}127.0.0.1:${await listen(server)}/pets?sslmode=disable`;
    const message = /^the database does not let this user/;
    await assert.rejects(openStore(address, { startTimeout: 30 }), { ...UNAVAILABLE, message });
  });

  test('openStore on postgresql › sslmode=require on a server without TLS › says so', async () => {
    await using database = await createEmptyDatabase();
    const separator = database.address.includes('?') ? '&' : '?';
    await assert.rejects(database.open({ query: `${separator}sslmode=require` }), {
      ...UNAVAILABLE,
      message: 'the database does not offer TLS, which sslmode requires',
    });
  });

  const NOT_REACHED = '^the database cannot be reached';
  const POOLER_REFUSAL = 'E\0\0\0\x21SFATAL\0C08P01\0Mno such user\0\0';
  const REFUSED = '^the database is refused by its pooler: see its log';
  const POOLED = '&pgbouncer=true';
  for (const [what, answer, message, parameter = ''] of [
    ['is silent', '', NOT_REACHED],
    ['hangs up', undefined, NOT_REACHED],
    ['ended it as idle', 'E\0\0\0\x13SFATAL\0C57P05\0\0', '^the database ended the session'],
    ['speaks another protocol', 'HTTP/1.1 400 Bad Request\r\n\r\n', NOT_REACHED],
    [
      'is a pooler that refuses it',
      POOLER_REFUSAL,
      `${REFUSED}; the address needs pgbouncer=true$`,
    ],
    ['is a pooler that refuses it, as the address says', POOLER_REFUSAL, `${REFUSED}$`, POOLED],
  ] as const) {
    test(`openStore on postgresql › a server that ${what} › is one line without the login, not stormed, and left`, async () => {
      const sockets: Socket[] = [];
      await using server = createServer((socket) => {
        sockets.push(socket.on('error', () => undefined).resume());
        if (answer === undefined) socket.destroy();
        else socket.write(answer);
      });
      const port = await listen(server);
      try {
        const address = `${LOGIN}127.0.0.1:${port}/pets?sslmode=disable${parameter}`;
        await assertOneLine(address, new RegExp(message));
        assert.ok(sockets.length < 20, `${sockets.length} connections`);
        await until(() => sockets.every(({ closed }) => closed), LEFT_MS_MAX);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    });
  }
});

async function assertOneLine(address: string, expected: RegExp): Promise<void> {
  await assert.rejects(openStore(address, { create: true }), (error: Error) => {
    assert.equal(error.name, 'PetstoreError');
    assert.match(error.message, expected);
    assert.doesNotMatch(error.message, /\n/);
    assert.doesNotMatch(listMessages(error).join(), /\/\/rex|\brex\b|s3cr/);
    return true;
  });
}

/** The time of the server, in milliseconds. */
const NOW = 'cast(extract(epoch from now()) * 1000 as bigint)';

/** SQL that adds a pet with that key, as another process does. */
const use = (key: string) => `
  insert into pets values (nextval('pets_id'), 'Rex', 1, null);
  insert into idempotency_keys values (1, '${key}', ${NOW}, currval('pets_id')) on conflict (api_key_id, name)
    do update set created_at = excluded.created_at, pet_id = excluded.pet_id`;

describe('conflicts', () => {
  const test = testOnPostgres();

  for (const [what, isolation] of [
    ['a new', 'read committed'],
    ['a new', 'repeatable read'],
    ['an expired', 'read committed'],
  ]) {
    test(`conflicts › ${what} name that another process uses just now, by default in ${isolation} › is answered with its pet once it commits`, async (_pets, database) => {
      await database.query(
        `do $$ begin execute format('alter database %I set default_transaction_isolation = %L',
          current_database(), '${isolation}'); end $$`,
      );
      const { pets } = await database.open();
      const request = { keyId: 1, key: 'nightly' };
      if (what === 'an expired') {
        await addOnce(pets, REX, request);
        await age(database.address, IDEMPOTENCY_MS);
      }
      await using other = await holdInSession(database, use('nightly'));
      // In one batch with others.
      const adding = Promise.all([
        addOnce(pets, REX, request),
        addOnce(pets, REX, { ...request, key: 'other' }),
        pets.add(REX),
      ]);
      await setTimeout(200);
      await other.end('commit');
      const [first, second, third] = (await adding).map(({ id }) => id);
      const { pet, isReplay } = await pets.addOnce(REX, request);
      assert.deepEqual([first, isReplay], [pet.id, true]);
      assert.equal(new Set([first, second, third]).size, 3);
      assert.equal((await pets.list({ limit: 9 })).pets.length, what === 'a new' ? 3 : 4);
    });
  }
});

describe('conflicts of sessions', { skip: NO_SESSIONS }, () => {
  const test = testOnPostgres();

  test('conflicts of sessions › the same names in two processes, in other orders › wait for none in a circle', async (pets, database) => {
    const { pets: others } = await database.open();
    // Both take the names before it, and wait.
    await using held = await holdInSession(database, use('m'));
    const names = ['a', 'm', 'z'];
    const adding = [
      ...names.map((key) => addOnce(pets, REX, { keyId: 1, key })),
      ...names.toReversed().map((key) => addOnce(others, REX, { keyId: 1, key })),
    ];
    await database.untilWaiting(2);
    await held.end('rollback');
    const ids = (await Promise.all(adding)).map(({ id }) => id);
    assert.deepEqual(ids.slice(0, 3), ids.slice(3).toReversed());
  });

  test('conflicts of sessions › expired names in use by a create › are left by the purge, which does not wait', async (pets, database) => {
    const request = { keyId: 1, key: 'nightly' };
    await addOnce(pets, REX, request);
    await addOnce(pets, REX, { ...request, key: 'other' });
    await age(database.address, 2 * IDEMPOTENCY_MS);
    await using other = await holdInSession(
      database,
      `update idempotency_keys set created_at = ${NOW} where name = 'nightly'`,
    );
    await database.open({ isServed: true });
    const listNames = () => database.query('select name from idempotency_keys order by name');
    while ((await listNames()).length > 1) await setTimeout(20);
    assert.deepEqual(await listNames(), [{ name: 'nightly' }]);
    await other.end('commit');
    assert.equal((await addOnce(pets, REX, request)).id, 1n);
  });
});
