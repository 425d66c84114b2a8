/** How the program starts, seen by the person who starts it. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runCurl } from '../support/curl.ts';
import { runProgram, startService } from '../support/program.ts';

async function createFolder(): Promise<AsyncDisposable & { cwd: string }> {
  const cwd = await mkdtemp(join(tmpdir(), 'petstore-'));
  return { cwd, [Symbol.asyncDispose]: () => rm(cwd, { recursive: true }) };
}

describe('start', { concurrency: 2 }, () => {
  test('first start in staging › its printed line › lists the pets', async () => {
    await using folder = await createFolder();
    await using service = await startService([], folder);
    const [where, words, curl = '', ...rest] = service.output.stdout.split('\n');
    assert.equal(
      where,
      `petstore listens on http://127.0.0.1:${service.port} (staging, sqlite:petstore.db)`,
    );
    assert.equal(words, 'The first key, which is shown only now, and how to use it:');
    assert.deepEqual(rest, ['']);
    assert.deepEqual(await runCurl(curl.trim()), { status: 200, body: '[]' });
  });

  test('second start in staging › with the first key › prints no key and is opened', async () => {
    await using folder = await createFolder();
    let key: string;
    {
      await using first = await startService([], folder);
      key = first.key;
    }
    await using second = await startService([], folder);
    assert.match(
      second.output.stdout,
      /^petstore listens on \S+ \(staging, sqlite:petstore\.db\)\n$/,
    );
    const headers = { authorization: `Bearer ${key}` };
    assert.equal((await fetch(`${second.url}/v1/pets`, { headers })).status, 200);
  });

  test('start in staging › its only key revoked › says how to make another', async () => {
    await using folder = await createFolder();
    await using first = await startService([], folder);
    await runProgram(['keys', 'revoke', '1'], folder);
    await using second = await startService([], folder);
    const [, words, command = ''] = second.output.stdout.split('\n');
    assert.equal(words, 'No staging key is active. To make one:');
    const made = await runProgram(command.replace('NAME', 'me').trim().split(' ').slice(1), folder);
    const headers = { authorization: `Bearer ${made.stdout.trim()}` };
    assert.equal((await fetch(`${first.url}/v1/pets`, { headers })).status, 200);
  });

  test('start in production › no key yet › says how to make one and prints no secret', async () => {
    await using folder = await createFolder();
    await using staging = await startService([], folder);
    await using service = await startService(['--environment', 'production'], folder);
    const [where, words, command = '', ...rest] = service.output.stdout.split('\n');
    assert.match(where ?? '', /^petstore listens on \S+ \(production, sqlite:petstore\.db\)$/);
    assert.equal(words, 'No production key is active. To make one:');
    assert.deepEqual(rest, ['']);
    assert.doesNotMatch(service.output.stdout + service.output.stderr, /petstore_(?:stag|prod)_/);

    const args = command.trim().split(' ').slice(1);
    const made = await runProgram(args, folder);
    assert.equal(made.status, 0, made.stderr);
    for (const [url, key, status] of [
      [service.url, made.stdout.trim(), 200],
      [service.url, staging.key, 401],
      [staging.url, made.stdout.trim(), 401],
      [staging.url, staging.key, 200],
    ] as const) {
      const answer = await fetch(`${url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
      assert.equal(answer.status, status);
    }
  });

  test('start › on the port of another petstore › exits with 1 and one line', async () => {
    await using folder = await createFolder();
    await using service = await startService([], folder);
    const args = ['serve', '--port', String(service.port), '--database', 'sqlite:other.db'];
    const { status, stdout, stderr } = await runProgram(args, folder);
    assert.deepEqual({ status, stdout }, { status: 1, stdout: '' });
    assert.match(stderr, /^petstore: 127\.0\.0\.1:\d+ is in use: [^\n]+\n$/);
  });
});
