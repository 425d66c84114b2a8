/** `petstore pets import`, `export` and `generate`: their files and progress, and what becomes of ids, columns, values and wrong rows. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Progress, say, withProgress } from '../../src/cli/output.ts';
import { PetstoreError } from '../../src/error.ts';
import { COMPARED_PETS } from '../../src/rows.ts';
import { generatePets } from '../../src/sample.ts';
import { runCommand } from '../support/command.ts';
import { startProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';
import { keepStandardError } from './standard-error.ts';

const cwd = createProcessFolder();
let stores = 0;

/** Runs an import of the text into a new store, or into that of the name. */
async function importText(text: string, { format = 'csv', to = '', flags = [] as string[] } = {}) {
  stores += 1;
  const store = to || `store${stores}.db`;
  await writeFile(join(cwd, 'pets'), text);
  const args = ['pets', 'import', 'pets', '--format', format, '--database', `sqlite:${store}`];
  const { status, stderr } = await runCommand([...args, ...flags], { cwd });
  const lines = stderr.split('\n');
  return { status, lines: lines.slice(0, -1), store };
}

const list = async (store: string) => {
  const args = ['pets', 'export', '--format', 'csv', '--database', `sqlite:${store}`];
  return (await runCommand(args, { cwd })).stdout;
};

const HEAD = 'id,name,categoryId,status\n';
const BY_ID = ['--by-id'];

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
  const args = ['pets', 'generate', '--count', '2', '--format', 'csv'];
  const csv = 'id,name,categoryId,status\n1,Cleo,2,available\n2,Goldie,4,pending\n';
  assert.equal((await runCommand(args, { cwd })).stdout, csv);
});

test('pets generate › very many pets › are made as they are taken', async () => {
  for await (const { id } of generatePets(1_000_000_000)) {
    if (id === 10_000n) break;
  }
});

test('progress › on a terminal › rewrites its line ten times a second', async (t) => {
  const stderr = keepStandardError(t, true);
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  await withProgress('imported', async (progress) => {
    for (now = 0; now < 250; now += 10) {
      progress.add(60);
    }
    say('imported 1,500 pets');
  });
  assert.deepEqual(stderr.text.split('\r\x1b[K'), [
    '',
    '660 pets so far',
    '1,260 pets so far',
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

test('progress › that fails because of a signal › tells of the signal, and ends by it', async (t) => {
  const { mock } = t.mock.method(process, 'kill', () => true);
  const stderr = keepStandardError(t);
  const failing = withProgress('exported', async () => {
    process.emit('SIGTERM', 'SIGTERM');
    throw new PetstoreError('bad_request', 'the partial file is gone');
  });
  await assert.rejects(failing);
  assert.equal(stderr.text, 'stopped: nothing was exported\n');
  assert.deepEqual(
    mock.calls.map((call) => call.arguments),
    [[process.pid, 'SIGTERM']],
  );
});

test('progress › not on a terminal › says nothing', async (t) => {
  const stderr = keepStandardError(t);
  const progress = new Progress();
  t.mock.method(performance, 'now', () => 1e9);
  progress.add(1_500);
  assert.equal(stderr.text, '');
});

test('pets import › ids in some rows › are not kept, which is told', async () => {
  const { store } = await importText('name,categoryId\nRex,1\n');
  const text = `${HEAD},Rex,2,\nx,Tom,1,\n,Mia,1,\n`;
  const { status, lines } = await importText(text, { to: store });
  const told = 'the ids in the file were not kept: --by-id keeps them';
  assert.deepEqual([status, ...lines.slice(0, -1)], [0, 'imported 3 pets', 'new ids 2 to 4', told]);
});

test('pets import › the same file again › is told before its pets are added', async () => {
  const rows = Array.from({ length: 15 }, (_, index) => `Rex ${index},1\n`);
  const text = `name,categoryId\n${rows.join('')}`;
  const { store } = await importText('name,categoryId\nMia,1\n');
  await importText(text, { to: store });
  const again = await importText(`${text}Tom,2\n`, { to: store });
  assert.deepEqual(again.lines.slice(0, -1), [
    'the first rows of the file are in the store already, from the id 2 on',
    'imported 16 pets',
    'new ids 17 to 32',
  ]);
  const { store: none, lines } = await importText(text, { flags: ['--dry-run'] });
  assert.equal(lines[0], 'would be: imported 15 pets; nothing was changed');
  assert.equal(lines.at(-1), `No store yet: sqlite:${join(cwd, none)}`);
  assert.ok(!(await readdir(cwd)).includes(none));
});

test('pets import --by-id › a file in any order › adds and leaves pets, and refuses one that differs', async () => {
  const text = `${HEAD}9,Rex,1,sold\n2,Tom,1,\n`;
  const { status, lines, store } = await importText(text, { flags: BY_ID });
  assert.deepEqual([status, lines[0]], [0, '2 added, 0 corrected, 0 unchanged']);
  const more = await importText(`${text}3,Mia,4,\n,Zoë,5,\n`, { flags: BY_ID, to: store });
  assert.deepEqual(more.lines.slice(0, -1), ['2 added, 0 corrected, 2 unchanged', 'new id 10']);
  const changed = `${HEAD}2,Tom,1,\n8,Tom,1,\n9,Rex,2,\n`;
  const refused = await importText(changed, { flags: BY_ID, to: store });
  assert.deepEqual(refused.lines, [
    'petstore: pet 9 differs: the store has {"id":9,"name":"Rex","categoryId":1,"status":"sold"}, the file {"id":9,"name":"Rex","categoryId":2}; nothing was imported',
  ]);
  assert.equal(await list(store), `${HEAD}2,Tom,1,\n3,Mia,4,\n9,Rex,1,sold\n10,Zoë,5,\n`);
});

const RULE = 'must be a whole number from 1 to 9223372036854775806';
for (const [what, format, text, place] of [
  [
    'a row with more that is wrong',
    'csv',
    `${HEAD}\n0,Tom,1,gone\n`,
    `line 3: id 0 ${RULE}; status "gone" must be one of available, pending, sold`,
  ],
  [
    'the greatest int64',
    'json',
    '[{"id":9223372036854775807,"name":"Tom","categoryId":1}]',
    `pet 1: id 9223372036854775807 ${RULE}`,
  ],
  ['no pet', 'json', '[]', 'the file has no pets'],
] as const) {
  test(`pets import --by-id › ${what} › is refused`, async () => {
    const { status, lines } = await importText(text, { format, flags: BY_ID });
    assert.deepEqual([status, ...lines], [1, `petstore: ${place}; nothing was imported`]);
  });
}

const wrong = (count: number) => 'Rex,1\nRex,one\n'.repeat(count);
/** What is told of the first 20 of them. */
const WRONG_ROWS = Array.from(
  { length: 20 },
  (_, index) => new RegExp(`^line ${2 * index + 3}: categoryId "one" must be `),
);
for (const [what, text, ...told] of [
  ['a wrong row', `${'Rex,1\n'.repeat(5_000)} ,2\n`, /^petstore: line 5002: name " " must be .+/],
  ['25 wrong rows', wrong(25), ...WRONG_ROWS, /^and 5 more$/, /^petstore: 25 rows are wrong/],
  ['2 wrong rows before one that hides the next', `${wrong(2)}"`, /^petstore: line 6: a cell /],
] as const) {
  test(`pets import › a file with ${what} › imports nothing, and names up to 20 wrong rows`, async () => {
    const { status, lines, store } = await importText(`name,categoryId\n${text}`);
    assert.deepEqual([status, lines.length], [1, told.length]);
    for (const [index, line] of told.entries()) assert.match(lines[index] ?? '', line);
    assert.match(lines.at(-1) ?? '', /; nothing was imported$/);
    assert.ok(!(await readdir(cwd)).some((name) => name.startsWith(store)));
  });
}

test('pets import › names of broken formulas › are imported, and named at their places', async () => {
  const errors = ['#REF!', '#N/A', '#NAME?', '#VALUE!', '#DIV/0!', '#NULL!', '#NUM!'];
  const rows = [...errors, ...errors, ...errors].map((error) => `${error},1\n#REF! x,1\n`);
  const { status, lines } = await importText(`name,categoryId\n${rows.join('')}`);
  const told = Array.from({ length: 20 }, (_, index) => {
    return `line ${2 * index + 2}: ${errors[index % 7]} comes from a broken formula`;
  });
  told.push('and 1 more come from broken formulas', 'imported 42 pets');
  assert.deepEqual([status, ...lines.slice(0, 22)], [0, ...told]);
});

test('pets import --ignore-columns › a column that no pet has › is left out', async () => {
  const text = 'name;categoryId;Stauts\nRex;1;sold\n';
  const { status } = await importText(text);
  assert.equal(status, 1);
  const { store } = await importText(text, { flags: ['--ignore-columns'] });
  assert.equal(await list(store), `${HEAD}1,Rex,1,\n`);
});

test('pets export › for a spreadsheet, by status › is what the import takes', async () => {
  const rows = `1,=1+1,9223372036854775807,sold\n2,"小白 ""x"";\n",1,\n`;
  const { store } = await importText(`${HEAD}${rows}`, { flags: BY_ID });
  const database = ['--database', `sqlite:${store}`];
  for (const [flags, text] of [
    [
      ['--excel'],
      `\ufeffid;'name;categoryId;status\n1;'=1+1;'9223372036854775807;sold\n2;"'小白 ""x"";\n";1;\n`,
    ],
    [
      ['--format', 'excel-comma', '--status', 'sold'],
      `\ufeffid,'name,categoryId,status\n1,'=1+1,'9223372036854775807,sold\n`,
    ],
  ] as const) {
    await runCommand(['pets', 'export', 'excel.ndjson', ...flags, ...database], { cwd });
    assert.equal(await readFile(join(cwd, 'excel.ndjson'), 'utf8'), text);
    const { lines } = await importText(text, { flags: BY_ID, to: store });
    assert.match(lines[0] ?? '', /^0 added, 0 corrected, [12] unchanged$/);
  }
  const args = ['pets', 'export', '-', '--format', 'csv', ...database];
  assert.equal((await runCommand(args, { cwd })).stdout, HEAD + rows);
  assert.ok(!(await readdir(cwd)).includes('-'));
});

test('pets import › a signal on the way into a new file › leaves none, and says so', async () => {
  const cwd = createProcessFolder();
  const file = join(cwd, 'pets.csv');
  execFileSync('mkfifo', [file]);
  // Opened to read too, because nobody reads the pipe yet.
  await using pipe = await open(file, 'r+');
  await pipe.write(`name,categoryId\n${'Rex,1\n'.repeat(COMPARED_PETS + 1)}`);
  await using program = startProgram(['pets', 'import', file], { cwd });
  await until(async () => (await readdir(cwd)).some((name) => name.endsWith('-wal')));
  program.process.kill('SIGINT');
  const { signal, stderr } = await within(program.finished);
  assert.deepEqual([signal, stderr], ['SIGINT', 'stopped: nothing was imported\n']);
  assert.deepEqual(await readdir(cwd), ['pets.csv']);
});
