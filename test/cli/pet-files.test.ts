/** `petstore pets import` and `export` on a real store, and their progress. */

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { exportPets } from '../../src/cli/commands/export-pets.ts';
import { importPets } from '../../src/cli/commands/import-pets.ts';
import { Progress } from '../../src/cli/output.ts';
import { generatePets } from '../../src/sample.ts';
import { openStore } from '../../src/storage/open.ts';
import type { Store } from '../../src/store.ts';
import { runCommand } from '../support/command.ts';
import { runProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { Transcript } from './transcript.ts';

describe('pets', () => {
  const folder = createProcessFolder();
  const database = `sqlite:${join(folder, 'pets.db')}`;
  let store: Store;
  before(async () => {
    store = await openStore(database, { create: true });
  });
  after(async () => {
    await store.close();
  });

  test('pets import › a file with a bad row › names its line and imports nothing', async () => {
    const file = join(folder, 'bad.csv');
    await writeFile(file, `name,categoryId\n${'Rex,1\n'.repeat(5_000)} ,2\n`);
    const stderr = new Transcript(true);
    await assert.rejects(importPets({ database, file }, stderr), {
      name: 'PetstoreError',
      code: 'bad_request',
      message: /^line 5002: name must be .+; nothing was imported$/,
    });
    assert.deepEqual((await store.pets.list({ limit: 1 })).pets, []);
    assert.ok(stderr.text.endsWith('\r\x1b[K'));
  });

  for (const [what, rows, ends, lines, message] of [
    ['20 wrong rows', 20, '', 20, '20 rows are wrong; nothing was imported'],
    ['25 wrong rows', 25, '', 21, '25 rows are wrong; nothing was imported'],
    ['wrong rows before a broken one', 2, '"', 3, '3 rows are wrong; nothing was imported'],
  ] as const) {
    test(`pets import › a file with ${what} › names up to 20, and tells how many more there are`, async () => {
      const file = join(folder, 'wrong.csv');
      await writeFile(file, `name,categoryId\n${'Rex,1\nRex,one\n'.repeat(rows)}${ends}`);
      const stderr = new Transcript();
      await assert.rejects(importPets({ database, file }, stderr), { message });
      const told = stderr.text.split('\n').slice(0, -1);
      assert.equal(told.length, lines);
      for (const [index, line] of told.slice(0, Math.min(rows, 20)).entries()) {
        assert.match(line, new RegExp(`^line ${2 * index + 3}: categoryId must be `));
      }
      if (rows > 20) assert.equal(told.at(-1), `and ${rows - 20} more`);
      if (ends !== '') assert.match(told.at(-1) ?? '', /^line 6: a cell with a quote /);
      assert.equal(await store.pets.count(), 0);
    });
  }

  test('pets import › a stream that breaks behind a wrong row › tells why it broke', async (t) => {
    const input = new Readable({ read: () => undefined });
    input.push('{"name":"Rex"}\n');
    t.mock.getter(process, 'stdin', () => input);
    const stderr = new Transcript(true);
    const { mock } = t.mock.method(stderr, 'write', (text: string) => {
      // The row is refused, and the next one is waited for.
      if (!text.endsWith('checked 1 pet')) return;
      input.destroy(Object.assign(new Error('read EIO'), { errno: -constants.errno.EIO }));
    });
    await assert.rejects(importPets({ database, file: '-', format: 'ndjson' }, stderr), {
      code: 'bad_request',
      message: 'standard input cannot be read: i/o error; nothing was imported',
    });
    // A pipe has no size, and so no percentage.
    assert.deepEqual(mock.calls[0]?.arguments, ['\r\x1b[Kchecked 1 pet']);
  });

  test('pets import › then export › gives the same pets in each format', async () => {
    const rows = Array.from(
      { length: 2_500 },
      (_, index) => `{"id":${index + 1},"name":"Rex ${index}","categoryId":${2n ** 62n}}\n`,
    );
    const source = join(folder, 'source.ndjson');
    await writeFile(source, rows.join(''));
    const terminal = new Transcript(true);
    await importPets({ database, file: source }, terminal);
    const [, first, ...lines] = terminal.text.split('\r\x1b[K');
    const [committing, imported] = lines.slice(-4);
    assert.match(first ?? '', /^[1-9]\d % imported 1 pet$/);
    assert.equal(committing, 'committing 2,500 pets');
    assert.match(imported ?? '', /^imported 2,500 pets in \d+\.\d s\n/);

    const stderr = new Transcript(true);
    const target = join(folder, 'target.jsonl');
    await exportPets(store, { file: target }, new PassThrough(), stderr);
    assert.equal(await readFile(target, 'utf8'), rows.join(''));
    const exported = stderr.text.split('\r\x1b[K');
    assert.equal(exported[1], '0 % exported 1 pet');
    assert.match(exported.at(-1) ?? '', /^exported 2,500 pets in \d+\.\d s\n$/);
  });

  test('pets export › a file of the command › has the format of its ending', async () => {
    const args = ['pets', 'export', 'target.csv', '--database', database];
    await runCommand(args, { cwd: folder });
    assert.match(
      await readFile(join(folder, 'target.csv'), 'utf8'),
      /^id,name,categoryId,status\n/,
    );
  });

  test('pets export › without a file › leaves standard error silent', async () => {
    const stdout = new PassThrough();
    const stderr = new Transcript(true);
    const written = text(stdout);
    await exportPets(store, {}, stdout, stderr);
    stdout.end();
    assert.equal((await written).split('\n').length, 2_501);
    assert.equal(stderr.text, '');
  });
});

describe('pets generate', { concurrency: 2 }, () => {
  const cwd = createProcessFolder();
  const FIRST = [
    '{"id":1,"name":"Finn","categoryId":4,"status":"available"}',
    '{"id":2,"name":"Rango","categoryId":5}',
    '{"id":3,"name":"Goldie","categoryId":4,"status":"sold"}',
    '{"id":4,"name":"Iggy","categoryId":5,"status":"pending"}',
    '{"id":5,"name":"Max","categoryId":1,"status":"pending"}',
    '{"id":6,"name":"Rex","categoryId":1,"status":"pending"}',
    '{"id":7,"name":"Minka","categoryId":2,"status":"sold"}',
    '{"id":8,"name":"Daisy","categoryId":1,"status":"available"}',
  ];

  test('pets generate › without options › writes 100 pets as NDJSON, always the same ones', async () => {
    const { status, stdout, stderr } = await runProgram(['pets', 'generate'], { cwd });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    const lines = stdout.split('\n');
    assert.equal(lines.length, 100 + 1);
    assert.deepEqual(lines.slice(0, FIRST.length), FIRST);
  });

  test('pets generate › another seed › gives other pets, again the same', async () => {
    const generate = (seed: string) =>
      runCommand(['pets', 'generate', '--seed', seed, '--format', 'csv'], { cwd });
    const [{ stdout }, again, other] = await Promise.all([
      ...([generate('4294967295'), generate('4294967295'), generate('3')] as const),
    ]);
    assert.match(stdout, /^id,name,categoryId,status\n1,/);
    assert.equal(again.stdout, stdout);
    assert.notEqual(other.stdout, stdout);
  });

  test('pets generate › very many pets › are made as they are taken', async () => {
    for await (const { id } of generatePets({ count: 1_000_000_000, seed: 7 })) {
      if (id === 10_000n) break;
    }
  });

  for (const format of ['ndjson', 'csv', 'json']) {
    test(`pets import › ${format} on standard input › is imported`, async () => {
      const { stdout } = await runCommand(['pets', 'generate', '--format', format], { cwd });
      await writeFile(join(cwd, format), format === 'csv' ? stdout.replaceAll(',', ';') : stdout);
      const database = ['--format', format, '--database', `sqlite:${format}.db`];
      const within = ['sh', '-c', `cat ${format} | "$@"`, 'sh'];
      const { status, stderr } = await runProgram(['pets', 'import', '-', ...database], {
        ...{ cwd, within },
      });
      assert.match(stderr, /^imported 100 pets in /);
      assert.equal(status, 0);
      const exported = await runCommand(['pets', 'export', ...database], { cwd });
      assert.equal(exported.stdout, stdout);
    });
  }
});

describe('progress', () => {
  const imports = (stderr: Transcript, part?: number) => {
    const progress = new Progress(stderr);
    progress.part = part;
    progress.pets = 1_500;
    progress.show('imported');
    progress.show('imported');
    progress.show('committing');
    progress.finish('imported');
    return stderr.text.split('\r\x1b[K');
  };

  test('progress › on a terminal › shows each phase at once, and not each call', () => {
    const [start, ...lines] = imports(new Transcript(true), 0.509);
    assert.equal(start, '');
    assert.deepEqual(lines.slice(0, -1), [
      '50 % imported 1,500 pets',
      '50 % committing 1,500 pets',
    ]);
    assert.match(lines.at(-1) ?? '', /^imported 1,500 pets in \d+\.\d s\n$/);
  });

  test('progress › a phase that goes on › is shown again', async () => {
    const stderr = new Transcript(true);
    const progress = new Progress(stderr);
    const isShown = () => {
      progress.show('copied');
      return stderr.text === '\r\x1b[Kcopied'.repeat(2);
    };
    await until(isShown);
  });

  for (const [what, part, line] of [
    ['of an unknown size', undefined, 'imported 1,500 pets'],
    ['of a file that grows meanwhile', 1.2, '100 % imported 1,500 pets'],
  ] as const) {
    test(`progress › ${what} › is one line`, () => {
      assert.equal(imports(new Transcript(true), part)[1], line);
    });
  }
});
