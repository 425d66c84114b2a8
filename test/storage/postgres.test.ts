/** What only PostgreSQL has: opening and conflicts. */

import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { MIGRATIONS } from '../../src/storage/migrations.ts';
import { openStore } from '../../src/storage/open.ts';
import { IDEMPOTENCY_MS } from '../../src/store.ts';
import {
  createEmptyDatabase,
  type EmptyDatabase,
  holdInSession,
} from '../support/empty-database.ts';
import { listMessages } from '../support/list-messages.ts';
import { createOlderStore } from '../support/older-store.ts';
import { NO_SESSIONS } from '../support/postgres.ts';
import { listen } from '../support/socket.ts';
import { addOnce, REX } from './contract/data.ts';

const UNAVAILABLE = { name: 'PetstoreError', code: 'unavailable' };

function listTables({ query }: EmptyDatabase): Promise<Record<string, unknown>[]> {
  return query(
    'select table_name, column_name from information_schema.columns where table_schema = current_schema() order by 1, 2',
  );
}

describe('openStore on postgresql', { concurrency: 4 }, () => {
  test('openStore on postgresql › ten at once on an empty database › make one schema', async () => {
    await using database = await createEmptyDatabase();
    const stores = await Promise.all(Array.from({ length: 10 }, () => database.open()));
    const added = await Promise.all(stores.map((store) => store.pets.add(REX)));
    assert.deepEqual(await database.query('select version from petstore_schema'), [
      { version: String(MIGRATIONS.length) },
    ]);
    assert.equal(new Set(added.map(({ id }) => id)).size, 10);
  });

  test('openStore on postgresql › the schema before, with rows › keeps them, and takes what is new', async () => {
    await using database = await createEmptyDatabase();
    await createOlderStore(database.address);
    // A replica of the release before has these statements prepared.
    const insert = `insert into idempotency_keys as kept (api_key_id, name, created_at, pet_id)
      values (1, 'once', 7, 7) on conflict (api_key_id, name)
      do update set created_at = excluded.created_at, pet_id = excluded.pet_id`;
    const { pets } = await database.open({ create: false, olderSchema: 'migrate' });
    await database.query(insert);
    const sold = { ...REX, status: 'sold' } as const;
    const request = { keyId: 1, key: 'once', at: 8 };
    const rex = await addOnce(pets, sold, request);
    assert.deepEqual(rex, { ...sold, id: 7n });
    const mia = await pets.update(rex, { ...sold, name: 'Mia' });
    assert.deepEqual(await addOnce(pets, sold, request), mia);
  });

  test('openStore on postgresql › an empty database that is not to be made › is refused and left', async () => {
    await using database = await createEmptyDatabase();
    await assert.rejects(database.open({ create: false }), {
      ...UNAVAILABLE,
      message: 'there is no petstore in this database: serve, keys create or pets import makes one',
    });
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
    await database.query('create schema shop');
    const query = '?application_name=shop&options=-csearch_path%3Dshop';
    const { pets } = await database.open({ query });
    assert.equal(await pets.find(1n), undefined);
    const named = `select distinct application_name, to_regclass('shop.pets') is not null as is_there
      from pg_stat_activity
      where datname = current_database() and application_name in ('petstore', 'shop')`;
    assert.deepEqual(await database.query(named), [{ application_name: 'shop', is_there: true }]);
  });

  const LOGIN = 'postgres://rex:s3cr%C3%A9t@';
  for (const [what, rest, message] of [
    ['a port where nothing listens', '127.0.0.1:1/pets', 'nothing listens there'],
    ['a host that is not known', 'db.invalid/pets', '(?:its host|does not answer)'],
    ['a folder without a socket', '/pets?host=/nowhere', 'does not answer in time'],
    ['no certificate', '127.0.0.1/pets?sslrootcert=/no', 'sslrootcert must be files that can be'],
  ] as const) {
    test(`openStore on postgresql › ${what} › is one line without the login`, async () => {
      await assertOneLine(LOGIN + rest, new RegExp(message));
    });
  }

  test('openStore on postgresql › a database that is away at each try of a second › is warned of once', async () => {
    const warnings: string[] = [];
    const warn = (message: string) => warnings.push(message);
    const options = { create: true, startTimeout: 1, warn };
    await assert.rejects(openStore(`${LOGIN}127.0.0.1:1/pets`, options), UNAVAILABLE);
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
  const REFUSED =
    '^the database is refused by its pooler: see its log; the address needs pgbouncer=true$';
  for (const [what, answer, message] of [
    ['is silent', '', NOT_REACHED],
    ['hangs up', undefined, NOT_REACHED],
    ['speaks another protocol', 'HTTP/1.1 400 Bad Request\r\n\r\n', NOT_REACHED],
    ['is a pooler that refuses it', POOLER_REFUSAL, REFUSED],
  ] as const) {
    test(`openStore on postgresql › a server that ${what} › is one line without the login, and not stormed`, async () => {
      const sockets: Socket[] = [];
      await using server = createServer((socket) => {
        sockets.push(socket.on('error', () => undefined));
        if (answer === undefined) socket.destroy();
        else socket.write(answer);
      });
      const port = await listen(server);
      try {
        const address = `${LOGIN}127.0.0.1:${port}/pets?sslmode=disable`;
        await assertOneLine(address, new RegExp(message));
        assert.ok(sockets.length < 20, `${sockets.length} connections`);
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

describe('conflicts', () => {
  test('conflicts › a database whose default is repeatable read › takes creates that waited at the first try', async () => {
    await using database = await createEmptyDatabase();
    await database.query(
      `do $$ begin execute format('alter database %I set default_transaction_isolation = %L',
        current_database(), 'repeatable read'); end $$`,
    );
    const { pets } = await database.open();
    await database.query(
      `create sequence tries;
      create function count_try() returns trigger language plpgsql as
        $$ begin perform nextval('tries'); return null; end $$;
      create trigger count before update on counters execute function count_try()`,
    );
    await using other = await holdInSession(
      database,
      "update counters set value = 7 where name = 'pets'",
    );
    const request = { keyId: 1, key: 'nightly', at: 1 };
    const adding = Promise.all([pets.add(REX), addOnce(pets, REX, request)]);
    await setTimeout(200);
    await other.end('commit');
    assert.deepEqual(
      (await adding).map(({ id }) => id),
      [8n, 9n],
    );
    // The client's, and the batch's.
    assert.deepEqual(await database.query('select last_value::int as tries from tries'), [
      { tries: 2 },
    ]);
  });

  for (const [what, at] of [
    ['a new name', undefined],
    ['an expired name', 1],
  ] as const) {
    test(`conflicts › ${what} that another process uses just now › is answered with its pet once it commits`, async () => {
      await using database = await createEmptyDatabase();
      const { pets } = await database.open();
      const request = { keyId: 1, key: 'nightly', at: 1 + IDEMPOTENCY_MS };
      if (at !== undefined) await addOnce(pets, REX, { ...request, at });
      await using other = await holdInSession(
        database,
        `update counters set value = 7 where name = 'pets';
        insert into pets values (7, 'Rex', 1, null);
        insert into idempotency_keys values (1, 'nightly', ${request.at}, 7)
          on conflict (api_key_id, name) do update set created_at = ${request.at}, pet_id = 7`,
      );
      // In one batch with others, which are added behind it.
      const adding = Promise.all([
        addOnce(pets, REX, request),
        addOnce(pets, REX, { ...request, key: 'other' }),
        pets.add(REX),
      ]);
      await setTimeout(200);
      await other.end('commit');
      const ids = (await adding).map(({ id }) => id);
      assert.deepEqual(ids, [7n, 8n, 9n]);
    });
  }

  test('conflicts › two names that two processes use one after the other › are answered with their pets', {
    skip: NO_SESSIONS,
  }, async () => {
    await using database = await createEmptyDatabase();
    const { pets } = await database.open();
    const request = { keyId: 1, at: 1 + IDEMPOTENCY_MS };
    const use = (key: string) =>
      holdInSession(
        database,
        `update counters set value = value + 1 where name = 'pets';
        insert into pets select value, 'Rex', 1, null from counters where name = 'pets';
        insert into idempotency_keys select 1, '${key}', ${request.at}, value from counters where name = 'pets'
          on conflict do nothing`,
      );
    await using first = await use('first');
    const adding = Promise.all([
      addOnce(pets, REX, { ...request, key: 'first' }),
      addOnce(pets, REX, { ...request, key: 'second' }),
      pets.add(REX),
    ]);
    await setTimeout(200);
    // It may also come too late. Then the create adds its pet, with the same id.
    const waiting = use('second');
    await setTimeout(200);
    await first.end('commit');
    await using second = await waiting;
    await setTimeout(200);
    await second.end('commit');
    const ids = (await adding).map(({ id }) => id);
    assert.deepEqual(ids, [1n, 2n, 3n]);
  });

  test('conflicts › expired names in use by a create › are left by the purge, which does not wait', {
    skip: NO_SESSIONS,
  }, async () => {
    await using database = await createEmptyDatabase();
    const { pets } = await database.open();
    const at = Date.now();
    const request = { keyId: 1, key: 'nightly', at: at - 2 * IDEMPOTENCY_MS };
    await addOnce(pets, REX, request);
    await addOnce(pets, REX, { ...request, key: 'other' });
    await using other = await holdInSession(
      database,
      `update idempotency_keys set created_at = ${at} where name = 'nightly'`,
    );
    await database.open({ serviceClock: Date.now });
    const listNames = () => database.query('select name from idempotency_keys order by name');
    while ((await listNames()).length > 1) await setTimeout(20);
    assert.deepEqual(await listNames(), [{ name: 'nightly' }]);
    await other.end('commit');
    assert.equal((await addOnce(pets, REX, { ...request, at })).id, 1n);
  });
});
