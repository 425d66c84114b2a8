/** How the program starts, seen by the person who starts it. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { runCurl } from '../support/curl.ts';
import { type RunningService, readFacts, readStart, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

/** Executes a printed line in the checkout, as someone does who pastes it where the service was started. */
function paste(line: string): Promise<{ stdout: string }> {
  return promisify(execFile)('sh', ['-c', line], { cwd: join(import.meta.dirname, '../..') });
}

/** One store, from its first start on: each test goes on from what the one before it left. */
describe('start', () => {
  // A shell must not act on any character of it.
  const cwd = join(createProcessFolder(), "the store's $(false) & more");
  mkdirSync(cwd);
  let service: RunningService;
  before(async () => {
    service = await startService([], { cwd });
  });
  after(() => service[Symbol.asyncDispose]());

  test('first start in staging › the lines that it prints › list the pets, and open the console', async () => {
    const { stdout, stderr } = service.output;
    const [empty, , key = '', , curl = '', , link = '', ...rest] = stdout.split('\n');
    assert.deepEqual([empty, ...rest], ['', '']);
    assert.equal(key.trim(), service.key);
    assert.deepEqual(await runCurl(curl.trim()), { status: 200, body: '[]' });
    const { origin, pathname, hash } = new URL(link.trim());
    assert.deepEqual([origin, hash], [service.url, `#key=${service.key}`]);
    assert.equal((await fetch(`${origin}${pathname}`)).status, 200);
    assert.ok(!stderr.includes(service.key), stderr);
    assert.doesNotMatch(stderr, /"level":"(?!info)/);
    assert.deepEqual(readFacts(service), {
      msg: `petstore ${manifest.version} listens on http://127.0.0.1:${service.port}`,
      api: `${service.url}/v1`,
      console: `${service.url}/console`,
      docs: `${service.url}/docs`,
      store: `sqlite:${cwd}/petstore.db, new`,
      environment: 'staging',
      keys: 'npm run -s petstore -- keys create --name NAME',
    });
  });

  test('start in production › no key yet › says how to make one and prints no secret', async () => {
    const args = ['--environment', 'production', '--database', 'sqlite:production.db'];
    await using production = await startService(args, { cwd });
    const [hint = '', ...rest] = readStart(production).split('\n');
    assert.equal(rest.length, 2);
    const { store, environment, keys } = readFacts(production);
    assert.deepEqual(
      { store, environment, keys },
      { store: `sqlite:${cwd}/production.db, new`, environment: 'production', keys: undefined },
    );
    const [words, command = ''] = hint.split(/: (.*)/);
    assert.equal(words, 'no production key is active; to make one');
    assert.equal(production.output.stdout, '');
    assert.doesNotMatch(production.output.stderr, /petstore_(?:stag|prod)_/);

    const made = await paste(command);
    for (const [url, key, status] of [
      [production.url, made.stdout.trim(), 200],
      [production.url, service.key, 401],
      [service.url, made.stdout.trim(), 401],
      [service.url, service.key, 200],
    ] as const) {
      const answer = await fetch(`${url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
      assert.equal(answer.status, status);
    }
  });

  test('second start in staging › with the first key › prints no key, is opened and purges', async () => {
    const { key } = service;
    await service[Symbol.asyncDispose]();
    using database = new DatabaseSync(join(cwd, 'petstore.db'));
    database.exec("insert into idempotency_keys values (1, 'expired', 1, 1, null)");
    service = await startService([], { cwd });
    assert.equal(service.output.stdout, '');
    const { store, keys } = readFacts(service);
    assert.equal(store, `sqlite:${cwd}/petstore.db`);
    assert.equal(keys, 'npm run -s petstore -- keys create --name NAME');
    const headers = { authorization: `Bearer ${key}` };
    assert.equal((await fetch(`${service.url}/v1/pets`, { headers })).status, 200);
    const kept = database.prepare('select name from idempotency_keys');
    await until(() => kept.get() === undefined);
  });
});
