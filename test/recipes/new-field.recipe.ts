/** The recipes "a field" and "a filter" of docs/extending.md: two of each are added to a copy of the source, and no way through it loses them. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { PetstoreClient } from '../../client/petstore-client.ts';
import { LAYOUT } from '../../src/storage/migrations.ts';
import { runCommand } from '../support/command.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { runProgram, startService } from '../support/program.ts';
import { send } from '../support/request.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A file, the last text in it after which something is added, and what that is. */
type Edit = readonly [file: string, after: string, added: string];

const TABLE: Edit = [
  'src/pet.ts',
  "description: 'Whether the pet can be bought.' },\n  },\n",
  `  exampleText: { kind: 'text', optional: true, isTrimmed: true, label: 'Text', schema: { type: 'string', description: 'A text.' } },
  exampleInteger: { kind: 'int64', optional: true, isTrimmed: true, label: 'Integer', schema: int64('An integer.') },\n`,
];
const STEPS: readonly Edit[] = [
  [
    'src/pet.ts',
    '  readonly status?: PetStatus;\n',
    '  readonly exampleText?: string;\n  readonly exampleInteger?: bigint;\n',
  ],
  TABLE,
  [
    'src/pet-query.ts',
    "  status: 'Filters by availability status.',\n",
    "  exampleText: 'Filters by text.', exampleInteger: 'Filters by integer.',\n",
  ],
  [
    'src/storage/migrations.ts',
    '\n  },\n',
    `  { from: ${LAYOUT}, number: ${LAYOUT + 1}, breaking: false, sqlite: '${toMigration('text', 'integer')}', postgres: '${toMigration('text collate "C"', 'bigint')}' },\n`,
  ],
];

/** Of the step that goes behind the last one of today. */
function toMigration(text: string, integer: string): string {
  return `alter table pets add column example_text ${text}; alter table pets add column example_integer ${integer};`;
}

const folder = createProcessFolder();
const main = join(folder, 'src/cli/bin.ts');
const toAddress = (name: string) => `sqlite:${join(folder, name)}.db`;

async function edit([file, after, added]: Edit): Promise<void> {
  const path = join(folder, file);
  const text = await readFile(path, 'utf8');
  assert.ok(text.includes(after), `${file} has no ${after}`);
  const at = text.lastIndexOf(after) + after.length;
  await writeFile(path, text.slice(0, at) + added + text.slice(at));
}

/** What the compiler has to say against the source of the copy. */
async function compile(): Promise<string> {
  const config = join(folder, 'tsconfig.part.json');
  await writeFile(config, '{"extends":"./tsconfig.json","include":["src"]}');
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  // With threads it takes half as much work again.
  return String(spawnSync(process.execPath, [tsc, '--singleThreaded', '-p', config]).stdout);
}

describe('new field', () => {
  before(async () => {
    const copied = ['src', 'client', 'package.json', 'tsconfig.json'];
    for (const path of [...copied, 'docs/recipes']) {
      await cp(join(ROOT, path), join(folder, path), { recursive: true });
    }
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const step of STEPS.filter((each) => each !== TABLE)) await edit(step);
  });

  test('new field › its steps › compile, and not without the row in the table of fields', async () => {
    assert.match(await compile(), /error TS\d+: .*exampleText/);
    await edit(TABLE);
    assert.equal(await compile(), '');
  });

  test('new field › in the commands for a single pet › is an option', async () => {
    const last = ['--json', '--database', toAddress('commands')];
    const added = '{"id":1,"name":"Rex","categoryId":1,"exampleText":"a"}';
    const pet = ['--name', 'Rex', '--category-id', '1', '--example-text', 'a'];
    assert.deepEqual(await petstore('pets', 'add', ...pet, ...last), [added]);
    assert.deepEqual(
      await petstore('pets', 'update', '1', '--no-example-text', '--example-integer=-1', ...last),
      [`{"was":${added},"is":{"id":1,"name":"Rex","categoryId":1,"exampleInteger":-1}}`],
    );
    assert.deepEqual(await petstore('pets', 'list', '--example-text', 'a', ...last), ['[]']);
  });

  for (const kind of ['sqlite', 'postgresql']) {
    test(`new field › on ${kind}, through every way in and out › is kept`, async () => {
      await using database = await createTestDatabase();
      const file = toAddress(`with-${kind}`);
      if (kind === 'sqlite') await goRound(kind, file, database.address);
      else await goRound(kind, database.address, file);
    });
  }
});

const OLD = '{"id":1,"name":"Old","categoryId":1}';
const FULL =
  '{"id":2,"name":"Rex","categoryId":1,"status":"sold","exampleText":"a, \\"b\\"&status=%","exampleInteger":9223372036854775807}';
const PART = '{"id":3,"name":"Mia","categoryId":2,"exampleInteger":-1}';
const LIKE_FULL = FULL.replace('"id":2', '"id":4').replace('sold', 'pending');
const ALL = [OLD, FULL, PART, LIKE_FULL];

const FILES = [['pets.ndjson'], ['pets.json'], ['pets.csv'], ['excel.csv', '--excel']] as const;

/** @param other the address of an empty store on the other engine. */
async function goRound(kind: string, address: string, other: string): Promise<void> {
  // One from before the field was there.
  const old = ['pets', 'add', '--name', 'Old', '--category-id', '1', '--database', address];
  assert.equal((await runCommand(old, { cwd: folder })).status, 0);
  {
    await using service = await startService(['--database', address], { cwd: folder, main });
    const headers = { authorization: `Bearer ${service.key}` };
    const get = async (path: string) =>
      (await send(service.port, { path: `/v1/pets${path}`, headers })).body;
    const post = async (body: string, more = {}) => {
      const sent = { method: 'POST', path: '/v1/pets', headers: { ...headers, ...more }, body };
      const answer = await send(service.port, sent);
      return answer.status === 201 ? answer.body : answer.status;
    };
    const again = { 'idempotency-key': 'once' };
    assert.equal(await post(FULL, again), FULL);
    assert.equal(await post(FULL, again), FULL);
    for (const changed of [FULL.replace('a, ', 'b, '), FULL.replace('775807', '775806')]) {
      assert.equal(await post(changed, again), 422, changed);
    }
    for (const text of ['', '\\u0000', '\\ud800', 'a\\udc00a']) {
      assert.equal(await post(PART.replace('}', `,"exampleText":"${text}"}`)), 400, text);
    }
    assert.equal(await post(PART), PART);
    assert.equal(await post(LIKE_FULL), LIKE_FULL);
    assert.equal(await get('/2'), FULL);
    assert.equal(await get(''), `[${ALL}]`);
    const { exampleText } = JSON.parse(FULL);
    const text = `exampleText=${encodeURIComponent(exampleText)}`;
    for (const [query, pets] of [
      ['status=sold', [FULL]],
      [text, [FULL, LIKE_FULL]],
      [`${text}&status=sold`, [FULL]],
      [`${text}&exampleInteger=-1`, []],
      ['exampleInteger=-1', [PART]],
      ['exampleText=a', []],
    ] as const) {
      const [one, same] = await Promise.all([get(`?${query}`), get(`?${query}`)]);
      assert.deepEqual([one, same], [`[${pets}]`, `[${pets}]`], query);
    }
    // It follows the links, which keep the filter.
    const client = new PetstoreClient({ baseUrl: `${service.url}/v1`, apiKey: service.key });
    const ids: bigint[] = [];
    for await (const { id } of client.list({ ...{ exampleText }, limit: 1 })) ids.push(id);
    assert.deepEqual(ids, [2n, 4n]);
    const page = await (await fetch(`${service.url}/console/`)).text();
    for (const name of ['exampleText', 'exampleInteger']) {
      assert.ok(page.includes(`<input id="list-${name}" name="${name}"`), name);
      assert.ok(page.includes(`<input id="new-${name}" name="${name}"`), name);
    }
  }
  for (const [file, ...options] of FILES) {
    const target = toAddress(`${file}-of-${kind}`);
    await petstore('pets', 'export', file, ...options, '--database', address);
    // Both have ids from 1, in the order of the file.
    await petstore('pets', 'import', file, '--database', target);
    assert.deepEqual(await petstore('pets', 'export', '--database', target), ALL, file);
  }
  const given =
    'id,name,categoryId,status,exampleText,exampleInteger\n1,Old,1,, 2020-02-29 ,7\n2,Rex,1,sold\n';
  await writeFile(join(folder, 'corrected.csv'), given);
  const correct = ['pets', 'import', '--update', '--database', address];
  const undo = await petstore(...correct, 'corrected.csv', '--json');
  assert.deepEqual(undo, [
    `${OLD.replace('}', '')},"status":null,"exampleText":null,"exampleInteger":null}`,
    FULL,
  ]);
  const corrected = [
    OLD.replace('}', ',"exampleText":"2020-02-29","exampleInteger":7}'),
    '{"id":2,"name":"Rex","categoryId":1,"status":"sold"}',
  ];
  const isNow = await petstore('pets', 'export', '--database', address);
  assert.deepEqual(isNow, [...corrected, ...ALL.slice(2)]);
  await writeFile(join(folder, 'undo.ndjson'), undo.join('\n'));
  await petstore(...correct, 'undo.ndjson');
  assert.deepEqual(await petstore('pets', 'export', '--database', address), ALL);
  await petstore('copy', '--from', address, '--to', other);
  assert.deepEqual(await petstore('pets', 'export', '--database', other), ALL);
}

/** Runs a command of the copy to its end, and returns the lines that it wrote to standard output. */
async function petstore(...args: readonly string[]): Promise<string[]> {
  const { status, stdout, stderr } = await runProgram(args, { cwd: folder, main });
  assert.equal(status, 0, stderr);
  return stdout.split('\n').slice(0, -1);
}
