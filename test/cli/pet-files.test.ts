/** `petstore pets import` and `export` on a real store, and their progress. */

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Progress, say, withProgress } from '../../src/cli/output.ts';
import { PetstoreError } from '../../src/error.ts';
import { generatePets } from '../../src/sample.ts';
import { runCommand } from '../support/command.ts';
import { assertRefused, runProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { keepStandardError } from './standard-error.ts';

test('pets import › then export to a file and without one › gives the same pets', async () => {
  const cwd = createProcessFolder();
  const run = (...args: readonly string[]) => runCommand(['pets', ...args], { cwd });
  const line = (index: number) =>
    `{"id":${index + 1},"name":"Rex ${index}","categoryId":${2n ** 62n}}\n`;
  const text = Array.from({ length: 2_500 }, (_, index) => line(index)).join('');
  await writeFile(join(cwd, 'source.ndjson'), text);
  const imported = await run('import', 'source.ndjson');
  assert.match(imported.stderr, /^imported 2,500 pets\n/);
  const exported = await run('export', 'target.jsonl');
  assert.match(exported.stderr, /^exported 2,500 pets\n/);
  assert.equal(await readFile(join(cwd, 'target.jsonl'), 'utf8'), text);
  const { stdout, stderr } = await run('export');
  assert.equal(stdout, text);
  assert.equal(stderr, `Store: sqlite:${cwd}/petstore.db\n`);
});

describe('pets generate', { concurrency: 2 }, () => {
  const cwd = createProcessFolder();
  const FIRST = [
    '{"id":1,"name":"Cleo","categoryId":2,"status":"available"}',
    '{"id":2,"name":"Goldie","categoryId":4,"status":"pending"}',
    '{"id":3,"name":"Bruno","categoryId":1,"status":"sold"}',
    '{"id":4,"name":"Kiwi","categoryId":3}',
  ];

  test('pets generate › without options › writes 100 pets as NDJSON, always the same ones', async () => {
    const { status, stdout, stderr } = await runCommand(['pets', 'generate'], { cwd });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    const lines = stdout.split('\n');
    assert.equal(lines.length, 100 + 1);
    assert.deepEqual(lines.slice(0, FIRST.length), FIRST);
  });

  test('pets generate › to a full disk › exits with 1 and one line', async () => {
    const within = ['sh', '-c', 'exec "$0" "$@" > /dev/full'];
    const finished = await runProgram(['pets', 'generate'], { cwd, within });
    assertRefused(finished, 1, 'ENOSPC: no space left on device, write');
  });

  test('pets generate › very many pets › are made as they are taken', async () => {
    for await (const { id } of generatePets(1_000_000_000)) {
      if (id === 10_000n) break;
    }
  });

  test('pets import › CSV of another separator on standard input › is imported', async () => {
    const { stdout } = await runCommand(['pets', 'generate', '--format', 'csv'], { cwd });
    await writeFile(join(cwd, 'pets'), stdout.replaceAll(',', ';'));
    const within = ['sh', '-c', '"$@" < pets', 'sh'];
    const args = ['pets', 'import', '-', '--format', 'csv'];
    const { status, stderr } = await runProgram(args, { cwd, within });
    assert.match(stderr, /^imported 100 pets$/m);
    assert.equal(status, 0);
    const exported = await runCommand(['pets', 'export', '--format', 'csv'], { cwd });
    assert.equal(exported.stdout, stdout);
  });
});

test('progress › on a terminal › rewrites its line ten times a second', async (t) => {
  const stderr = keepStandardError(t, true);
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  await withProgress('imported', async (progress) => {
    for (now = 0; now < 250; now += 10) {
      if (now === 150) progress.part = 0.439;
      progress.add(60);
    }
    say('imported 1,500 pets');
  });
  assert.deepEqual(stderr.text.split('\r\x1b[K'), [
    '',
    '660 pets so far',
    '1,260 pets so far, 43 % of the file',
    'imported 1,500 pets\n',
  ]);
});

test('progress › that fails on a terminal › leaves no line, and says that nothing was done', async (t) => {
  const stderr = keepStandardError(t, true);
  const failing = withProgress('imported', async () => {
    throw new PetstoreError('bad_request', 'line 2 is wrong');
  });
  const message = 'line 2 is wrong; nothing was imported';
  await assert.rejects(failing, { code: 'bad_request', message });
  assert.ok(stderr.text.endsWith('\r\x1b[K'));
});

test('progress › of work that ended, well or not › hears no signal', async () => {
  const count = () => ['SIGHUP', 'SIGINT', 'SIGTERM'].map((name) => process.listenerCount(name));
  const before = count();
  for (let times = 0; times < 12; times += 1) {
    await withProgress('imported', async () => undefined);
    await assert.rejects(withProgress('imported', () => Promise.reject(new Error('wrong'))));
  }
  assert.deepEqual(count(), before);
});

test('progress › not on a terminal › says nothing', async (t) => {
  const stderr = keepStandardError(t);
  const progress = new Progress();
  t.mock.method(performance, 'now', () => 1e9);
  progress.add(1_500);
  assert.equal(stderr.text, '');
});
