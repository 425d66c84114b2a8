/** How the program starts, seen by the person who starts it. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runCurl } from '../support/curl.ts';
import { runProgram, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

describe('start', { concurrency: 2 }, () => {
  test('first start in staging › its printed line › lists the pets', async () => {
    const cwd = createProcessFolder();
    await using service = await startService([], { cwd });
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
    const cwd = createProcessFolder();
    let key: string;
    {
      await using first = await startService([], { cwd });
      key = first.key;
    }
    await using second = await startService([], { cwd });
    assert.match(
      second.output.stdout,
      /^petstore listens on \S+ \(staging, sqlite:petstore\.db\)\n$/,
    );
    const headers = { authorization: `Bearer ${key}` };
    assert.equal((await fetch(`${second.url}/v1/pets`, { headers })).status, 200);
  });

  test('start in staging › its only key revoked › says how to make another', async () => {
    const cwd = createProcessFolder();
    await using first = await startService([], { cwd });
    await runProgram(['keys', 'revoke', '1'], { cwd });
    await using second = await startService([], { cwd });
    const [, words, command = ''] = second.output.stdout.split('\n');
    assert.equal(words, 'No staging key is active. To make one:');
    const made = await runProgram(command.replace('NAME', 'me').trim().split(' ').slice(1), {
      cwd,
    });
    const headers = { authorization: `Bearer ${made.stdout.trim()}` };
    assert.equal((await fetch(`${first.url}/v1/pets`, { headers })).status, 200);
  });

  test('start in production › no key yet › says how to make one and prints no secret', async () => {
    const cwd = createProcessFolder();
    await using staging = await startService([], { cwd });
    await using service = await startService(['--environment', 'production'], { cwd });
    const [where, words, command = '', ...rest] = service.output.stdout.split('\n');
    assert.match(where ?? '', /^petstore listens on \S+ \(production, sqlite:petstore\.db\)$/);
    assert.equal(words, 'No production key is active. To make one:');
    assert.deepEqual(rest, ['']);
    assert.doesNotMatch(service.output.stdout + service.output.stderr, /petstore_(?:stag|prod)_/);

    const args = command.trim().split(' ').slice(1);
    const made = await runProgram(args, { cwd });
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
    const cwd = createProcessFolder();
    await using service = await startService([], { cwd });
    const args = ['serve', '--port', String(service.port), '--database', 'sqlite:other.db'];
    const { status, stdout, stderr } = await runProgram(args, { cwd });
    assert.deepEqual({ status, stdout }, { status: 1, stdout: '' });
    assert.match(stderr, /^petstore: 127\.0\.0\.1:\d+ is in use: [^\n]+\n$/);
  });
});
