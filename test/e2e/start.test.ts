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
import { type RunningService, readStart, startService } from '../support/program.ts';
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

  test('first start in staging › its printed line › lists the pets', async () => {
    const [where, words, curl = '', ...rest] = readStart(service).split('\n');
    assert.equal(
      where,
      `petstore ${manifest.version} listens on http://127.0.0.1:${service.port} (staging, new store sqlite:${cwd}/petstore.db), console at ${service.url}/console, documentation at /docs`,
    );
    assert.equal(words, 'The first key, which is shown only now, and how to use it:');
    assert.deepEqual(rest, ['']);
    const { stdout, stderr } = service.output;
    assert.ok(stdout.startsWith('The first key,'), stdout);
    assert.ok(!stderr.includes(service.key), stderr);
    assert.doesNotMatch(stderr, /"level":"(?!info)/);
    assert.deepEqual(await runCurl(curl.trim()), { status: 200, body: '[]' });
  });

  test('start in production › no key yet › says how to make one and prints no secret', async () => {
    const args = ['--environment', 'production', '--database', 'sqlite:production.db'];
    await using production = await startService(args, { cwd });
    const [hint = '', where, ...rest] = readStart(production).split('\n');
    assert.ok(
      where?.endsWith(
        ` (production, new store sqlite:${cwd}/production.db), console at ${production.url}/console, documentation at /docs`,
      ),
    );
    const [words, command = ''] = hint.split(/: (.*)/);
    assert.equal(words, 'no production key is active; to make one');
    assert.deepEqual(rest, ['']);
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
    assert.equal(
      readStart(service),
      `petstore ${manifest.version} listens on ${service.url} (staging, store sqlite:${cwd}/petstore.db), console at ${service.url}/console, documentation at /docs\n`,
    );
    const headers = { authorization: `Bearer ${key}` };
    assert.equal((await fetch(`${service.url}/v1/pets`, { headers })).status, 200);
    const kept = database.prepare('select name from idempotency_keys');
    await until(() => kept.get() === undefined);
  });
});
