/** The recipes "a field" and "a filter" of docs/extending.md: two of each are added to a copy of the source, and no way through it loses them. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { PetstoreClient } from '../../client/petstore-client.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type RunningService, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A file, the last text in it after which something is added, and what that is. */
type Edit = readonly [file: string, after: string, added: string];

const TABLE: Edit = [
  'src/pet.ts',
  '    parse: parsePetStatus,\n  },\n',
  `  exampleText: {
    kind: 'text', optional: true, label: 'Text', schema: { type: 'string', description: 'A text.' }, parse: parseName,
  },
  exampleInteger: {
    kind: 'int64', optional: true, label: 'Integer', schema: int64('An integer.'), parse: parseCategoryId,
  },\n`,
];
const STEPS: readonly Edit[] = [
  [
    'src/pet.ts',
    '  readonly status?: PetStatus;\n',
    '  readonly exampleText?: string;\n  readonly exampleInteger?: bigint;\n',
  ],
  TABLE,
  [
    'src/pet.ts',
    "  status: 'Filters by availability status.',\n",
    "  exampleText: 'Filters by text.', exampleInteger: 'Filters by integer.',\n",
  ],
  [
    'src/storage/migrations.ts',
    '`,\n  },\n',
    `  { number: 5, breaking: false, sqlite: '${toMigration('text', 'integer')}', postgres: '${toMigration('text collate "C"', 'bigint')}' },\n`,
  ],
];

/** Of the step that goes behind the last one of today. */
function toMigration(text: string, integer: string): string {
  return `alter table pets add column example_text ${text}; alter table pets add column example_integer ${integer};`;
}

const folder = createProcessFolder();
const main = join(folder, 'src/cli/main.ts');

async function edit([file, after, added]: Edit): Promise<void> {
  const path = join(folder, file);
  const text = await readFile(path, 'utf8');
  assert.ok(text.includes(after), `${file} has no ${after}`);
  const at = text.lastIndexOf(after) + after.length;
  await writeFile(path, text.slice(0, at) + added + text.slice(at));
}

/** What the compiler has to say against files or folders of the copy, and against what they import. */
async function compile(...include: readonly string[]): Promise<string> {
  const config = join(folder, 'tsconfig.part.json');
  await writeFile(config, JSON.stringify({ extends: './tsconfig.json', include }));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  // With threads it takes half as much work again.
  const args = [tsc, '--singleThreaded', '-p', config];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (_error, stdout) => resolve(stdout));
  });
}

describe('new field', () => {
  before(async () => {
    const copied = ['src', 'client', 'test/support', 'package.json', 'tsconfig.json'];
    for (const path of [...copied, 'docs/recipes']) {
      await cp(join(ROOT, path), join(folder, path), { recursive: true });
    }
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const step of STEPS) await edit(step);
  });

  test('new field › its steps › compile', async () => {
    assert.equal(await compile('src'), '');
  });

  test('new field › forgotten in the table of fields › does not compile', async () => {
    const [file, after, added] = TABLE;
    const path = join(folder, file);
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace(after + added, after));
    const output = await compile(file);
    await writeFile(path, text);
    assert.match(
      output,
      /error TS\d+: .*(?:exampleText, exampleInteger|exampleInteger, exampleText)/,
    );
  });

  test('new field › in the commands for a single pet › is an option', async () => {
    const last = ['--json', '--database', toAddress('commands')];
    const added = '{"id":1,"name":"Rex","categoryId":1,"exampleText":"a"}';
    const pet = ['--name', 'Rex', '--category-id', '1', '--example-text', 'a'];
    assert.equal(await petstore('pets', 'add', ...pet, ...last), `${added}\n`);
    assert.equal(
      await petstore('pets', 'update', '1', '--no-example-text', '--example-integer=-1', ...last),
      `{"was":${added},"is":{"id":1,"name":"Rex","categoryId":1,"exampleInteger":-1}}\n`,
    );
    assert.equal(await petstore('pets', 'list', '--example-text', 'a', ...last), '[]\n');
  });

  test('new field › on sqlite, through every way in and out › is kept', async () => {
    await using other = await createTestDatabase();
    const imports = ['ndjson', 'json', 'csv'].map((ending) => [ending, toAddress(ending)] as const);
    await roundTrip(toAddress('first'), imports, other.address);
  });

  test('new field › on postgresql, through every way in and out › is kept', async () => {
    await using database = await createTestDatabase();
    await using second = await createTestDatabase();
    await roundTrip(database.address, [['ndjson', second.address]], toAddress('of postgresql'));
  });
});

function toAddress(name: string): string {
  return `sqlite:${join(folder, name)}.db`;
}

const OLD = '{"id":1,"name":"Old","categoryId":1}';
const FULL =
  '{"id":2,"name":"Rex","categoryId":1,"status":"sold","exampleText":"a, \\"b\\"&status=%","exampleInteger":9223372036854775807}';
const PART = '{"id":3,"name":"Mia","categoryId":2,"exampleInteger":-1}';
const LIKE_FULL = FULL.replace('"id":2', '"id":4').replace('sold', 'pending');
const ALL = [OLD, FULL, PART, LIKE_FULL];

/**
 * @param imports endings of files, each with an empty database to import it into.
 * @param other an empty database of the other engine, to copy to.
 */
async function roundTrip(
  address: string,
  imports: readonly (readonly [ending: string, target: string])[],
  other: string,
): Promise<void> {
  let key: string;
  // One from before the field was there.
  {
    await using service = await startService(['--database', address], { cwd: folder });
    ({ key } = service);
    assert.equal((await post(service, OLD)).body, OLD);
  }
  {
    await using service = await startService(['--database', address], { cwd: folder, main });
    const again = { 'idempotency-key': 'once' };
    assert.deepEqual(await post({ ...service, key }, FULL, again), { status: 201, body: FULL });
    assert.deepEqual(await post({ ...service, key }, FULL, again), { status: 201, body: FULL });
    for (const changed of [FULL.replace('a, ', 'b, '), FULL.replace('775807', '775806')]) {
      assert.equal((await post({ ...service, key }, changed, again)).status, 422, changed);
    }
    assert.deepEqual(await post({ ...service, key }, PART), { status: 201, body: PART });
    assert.deepEqual(await post({ ...service, key }, LIKE_FULL), { status: 201, body: LIKE_FULL });
    assert.equal(await get(service, key, '/2'), FULL);
    assert.equal(await get(service, key, ''), `[${ALL}]`);
    assert.equal(await get(service, key, '?status=sold'), `[${FULL}]`);
    await filter({ ...service, key });
    const page = await (await fetch(`${service.url}/console/`)).text();
    assert.match(
      page,
      /<th scope="col" class="text">Text<\/th><th scope="col" class="int64">Integer<\/th>/,
    );
    for (const name of ['exampleText', 'exampleInteger']) {
      assert.ok(page.includes(`<input id="list-${name}" name="${name}"`), name);
      assert.ok(page.includes(`<input id="new-${name}" name="${name}"`), name);
    }
  }
  for (const [ending, target] of imports) {
    const file = `pets.${ending}`;
    await petstore('pets', 'export', file, '--database', address);
    // Both have ids from 1, in the order of the file.
    await petstore('pets', 'import', file, '--database', target);
    assert.equal(await exportAll(target), `${ALL.join('\n')}\n`, ending);
  }
  await petstore('copy', '--from', address, '--to', other);
  assert.equal(await exportAll(other), `${ALL.join('\n')}\n`);
}

/** Lists by the new fields, together and with the filter that was there, and page by page. */
async function filter({ url, key }: Pick<RunningService, 'url' | 'key'>): Promise<void> {
  const { exampleText } = JSON.parse(FULL);
  const text = `exampleText=${encodeURIComponent(exampleText)}`;
  const list = async (query: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${url}/v1/pets?${query}`, { headers });
    const next = /<\/v1\/pets\?(.*)>/.exec(answer.headers.get('link') ?? '')?.[1] ?? '';
    return { body: await answer.text(), next };
  };
  for (const [query, pets] of [
    [text, [FULL, LIKE_FULL]],
    [`${text}&status=sold`, [FULL]],
    [`${text}&exampleInteger=-1`, []],
    ['exampleInteger=-1', [PART]],
    ['exampleInteger=-1&status=sold', []],
    ['exampleText=a', []],
  ] as const) {
    const pages = [list(query), list(query), list(`${query}&limit=1`)];
    const [one, same, first] = await Promise.all(pages);
    assert.deepEqual([one, same], [one, { body: `[${pets}]`, next: '' }], query);
    assert.equal(first?.body, `[${pets.slice(0, 1)}]`, query);
    if (pets.length < 2) continue;
    assert.deepEqual(
      await list(first?.next ?? ''),
      { body: `[${pets.slice(1)}]`, next: '' },
      query,
    );
  }
  const client = new PetstoreClient({ baseUrl: `${url}/v1`, apiKey: key });
  const ids: bigint[] = [];
  for await (const { id } of client.list({ ...{ exampleText }, limit: 1 })) ids.push(id);
  assert.deepEqual(ids, [2n, 4n]);
}

function exportAll(address: string): Promise<string> {
  return petstore('pets', 'export', '--database', address);
}

/** Runs a command of the copy to its end, and returns what it wrote to standard output. */
async function petstore(...args: readonly string[]): Promise<string> {
  // The copy of this module runs the commands of the copy.
  const { runCommand }: typeof import('../support/command.ts') = await import(
    join(folder, 'test/support/command.ts')
  );
  const { status, stdout, stderr } = await runCommand(args, { cwd: folder });
  assert.equal(status, 0, stderr);
  return stdout;
}

async function post(
  { url, key }: Pick<RunningService, 'url' | 'key'>,
  pet: string,
  headers: Readonly<Record<string, string>> = {},
) {
  const answer = await fetch(`${url}/v1/pets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: pet,
  });
  return { status: answer.status, body: await answer.text() };
}

async function get({ url }: RunningService, key: string, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${url}/v1/pets${path}`, { headers })).text();
}
