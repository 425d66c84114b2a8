/** The blocks of the pages, run in their order as they stand. A block that cannot run has `<!-- not run: why -->` before it. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { findPostgresBin, queryOnce, startCluster } from '../support/postgres-cluster.ts';
import { MAIN, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const NOT_RUN_MAX = 10;
const BLOCK =
  /(?:<!-- not run: (?<reason>.+?) -->\s+)?^```(?<language>sh|sql)\n(?<text>.*?)^```\n(?:\n```\n(?<output>.*?)^```$)?/gms;

/** Who runs the blocks of a page that this file does not run. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md': 'test/e2e/readme.test.ts',
  'client/README.md': 'test/e2e/readme.test.ts',
  'docs/data.md': 'test/cli/data-page.test.ts',
  'docs/one-machine.md': 'scripts/check-one-machine.sh',
};
const HERE = ['docs/operations.md', 'docs/postgresql.md', 'docs/cli.md', 'docs/clients.md'];

async function readBlocks(page: string) {
  const text = await readFile(join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(BLOCK)].map(({ groups = {} }) => groups);
  assert.ok(blocks.length > 0, page);
  return blocks;
}

test('pages › their blocks › are run, or have a reason: at most ten', async () => {
  const reasons: string[] = [];
  for (const page of [...Object.keys(ELSEWHERE), ...HERE]) {
    const blocks = await readBlocks(page);
    reasons.push(...blocks.flatMap(({ reason }) => (reason ? `${page}: ${reason}` : [])));
    const runner = await readFile(
      join(ROOT, ELSEWHERE[page] ?? 'test/recipes/pages.recipe.ts'),
      'utf8',
    );
    assert.ok(runner.includes(page), page);
  }
  assert.ok(reasons.length > 0 && reasons.length <= NOT_RUN_MAX, reasons.join('\n'));
});

/** A folder that stands for the machine: `/var` and `/etc` are in it, and `petstore` is a command. */
async function createMachine(env: Readonly<Record<string, string>>, address: string) {
  const folder = createProcessFolder();
  const cwd = join(folder, 'var/lib/petstore');
  for (const path of ['bin', 'var/lib/petstore', 'var/backups', 'etc/petstore']) {
    await mkdir(join(folder, path), { recursive: true });
  }
  const program = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`;
  await writeFile(join(folder, 'bin/petstore'), program, { mode: 0o755 });
  const PATH = [join(folder, 'bin'), findPostgresBin(), process.env.PATH].join(delimiter);
  const run = async (script: string, language = 'sh') => {
    const here = script
      .replace(/ (\/(?:etc|var)\/)/g, ` ${folder}$1`)
      .replace(/postgres:\/\/(?:petstore(?::…)?@db\.test\/petstore|…)/g, address);
    const command = language === 'sh' ? here : `psql -v ON_ERROR_STOP=1 <<'END'\n${here}\nEND`;
    const ran = promisify(execFile)('bash', ['-euo', 'pipefail', '-c', `exec 2>&1\n${command}`], {
      ...{ cwd, env: { ...process.env, PATH, ...env } },
    });
    const { stdout } = await ran.catch(({ stdout }) => assert.fail(`${here}\n${stdout}`));
    return stdout;
  };
  const follow = async (page: string, blockEnv: (block: number) => string = () => '') => {
    for (const [index, { reason, language, text = '', output }] of (
      await readBlocks(page)
    ).entries()) {
      if (reason) continue;
      const printed = await run(blockEnv(index) + text, language);
      const plain = printed.replaceAll(folder, '').replace(/(petstore_(?:prod|stag)_)\w+/g, '$1…');
      assert.equal(plain, output ?? plain, text);
    }
  };
  return { cwd, run, follow };
}

test('pages › docs/operations.md › its blocks do what it says', async () => {
  await using cluster = await startCluster();
  await queryOnce(cluster.url(), 'create database copied');
  const { run, follow } = await createMachine({}, cluster.url('copied'));
  await run(`petstore keys create --name a --environment production
    petstore keys create --name b --environment production
    petstore pets generate --count 1240 | petstore pets import - --format ndjson --by-id`);
  await follow('docs/operations.md');
});

test('pages › docs/cli.md › its blocks do what it says', async () => {
  await using cluster = await startCluster();
  await queryOnce(cluster.url(), 'create database copied');
  const { cwd, run, follow } = await createMachine({}, cluster.url('copied'));
  await run(
    `for name in a b c; do petstore keys create --name $name; done
    petstore pets generate --count 30 | petstore pets import - --format ndjson --by-id`,
  );
  const csv = 'id,name,categoryId,status\n8,Max,3,sold\n';
  for (const file of ['pets.csv', 'pets.txt', 'corrected.csv']) {
    await writeFile(join(cwd, file), csv);
  }
  await follow('docs/cli.md');
});

test('pages › docs/postgresql.md › its blocks make, back up and restore a database', async () => {
  await using cluster = await startCluster();
  const { folder, port } = cluster;
  const env = { PGHOST: folder, PGPORT: String(port), PGUSER: 'postgres' };
  const address = (user: string) => `postgres://${user}@127.0.0.1:${port}/petstore`;
  const { run, follow } = await createMachine(env, address('petstore'));
  const blocks = await readBlocks('docs/postgresql.md');
  // As its text says: the owner makes the tables, in the database `petstore`.
  await follow('docs/postgresql.md', (index) => {
    const text = blocks[index]?.text ?? '';
    if (/^grant .* on pets /m.test(text)) return '\\c petstore\n';
    return text.includes('keys create')
      ? `export PETSTORE_DATABASE=${address('petstore_owner')}; `
      : '';
  });
  const rights = `select datname, datacl from pg_database where datname in ('petstore', 'lost') order by 1`;
  const [lost, restored] = (await queryOnce(cluster.url(), rights)).rows;
  assert.equal(lost.datacl, restored.datacl);
  assert.ok(!restored.datacl.includes('{=') && !restored.datacl.includes(',='), restored.datacl);
  assert.match(await run(`petstore keys list --database ${address('petstore')}`), /first/);
  const cwd = createProcessFolder();
  const service = ['--database', address('petstore'), '--environment', 'production'];
  await using started = await startService(service, { cwd });
  assert.equal((await fetch(`${started.url}/readyz`)).status, 200);
});
