/**
 * The blocks of the pages, run in their order as they stand, and what they print compared. Before a block may stand who else
 * runs it from the page, as `<!-- run by: FILE -->`, or why nobody can, as `<!-- not run: REASON -->`.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { installPython } from '../../scripts/run.ts';
import { findPostgresBin, queryOnce, startCluster } from '../support/postgres-cluster.ts';
import { MAIN, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const NOT_RUN_MAX = 10;
/** A block, and what is shown below it. A block in JSON shows an answer. */
const BLOCK =
  /(?:<!-- (?:not run: (?<reason>.+?)|run by: (?<by>.+?)) -->\s+)?^```(?<language>(?!json)\w+)\n(?<text>.*?)^```\n(?:\n```\n(?<output>.*?)^```$)?/gms;

/** Who runs a page that this file does not run. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md': 'test/e2e/readme.test.ts',
  'client/README.md': 'test/e2e/readme.test.ts',
  'docs/rehearse.md': 'test/e2e/readme.test.ts',
  'docs/one-machine.md': 'scripts/check-one-machine.sh',
  'docs/troubleshooting.md': 'scripts/check-one-machine.sh',
};
/** The pages that this file runs, with their languages. */
const HERE: Readonly<Record<string, string>> = {
  'docs/operations.md': 'sh',
  'docs/postgresql.md': 'sh sql',
  'docs/cli.md': 'sh',
  'docs/data.md': 'csv sh',
  'docs/clients.md': 'sh py js',
};

async function readBlocks(page: string) {
  const text = await readFile(join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(BLOCK)].map(({ groups = {} }) => groups);
  assert.ok(blocks.length > 0, page);
  return blocks;
}

test('pages › their blocks › are run, or have a reason: at most ten', async (t) => {
  const counts = { here: 0, elsewhere: 0 };
  const reasons: string[] = [];
  for (const page of [...Object.keys(ELSEWHERE), ...Object.keys(HERE)]) {
    for (const { language = '', reason, by = ELSEWHERE[page], text } of await readBlocks(page)) {
      if (reason) reasons.push(`${page}: ${reason}`);
      else if (by) {
        counts.elsewhere += 1;
        assert.ok((await readFile(join(ROOT, by), 'utf8')).includes(page), `${page}: ${by}`);
      } else {
        counts.here += 1;
        assert.ok(HERE[page]?.split(' ').includes(language), `${page}: nobody runs ${text}`);
      }
    }
  }
  t.diagnostic(`${counts.here} run here, ${counts.elsewhere} elsewhere, ${reasons.length} not`);
  assert.ok(reasons.length > 0 && reasons.length <= NOT_RUN_MAX, reasons.join('\n'));
});

/** A folder that stands for the machine: `/var` and `/etc` are in it, and `petstore` is a command. */
async function createMachine(
  env: Readonly<Record<string, string>>,
  address: string,
  ...bins: readonly string[]
) {
  const folder = createProcessFolder();
  const cwd = join(folder, 'var/lib/petstore');
  for (const path of ['bin', 'var/lib/petstore', 'var/backups', 'etc/petstore']) {
    await mkdir(join(folder, path), { recursive: true });
  }
  const program = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`;
  await writeFile(join(folder, 'bin/petstore'), program, { mode: 0o755 });
  const PATH = [join(folder, 'bin'), ...bins, findPostgresBin(), process.env.PATH].join(delimiter);
  const run = async (script: string, language = 'sh') => {
    const here = script
      .replace(/ (\/(?:etc|var)\/)/g, ` ${folder}$1`)
      .replace(/postgres:\/\/(?:petstore(?::…)?@db\.test\/petstore|…)/g, address);
    const command = `${PROGRAMS[language]} <<'END'\n${here}\nEND`;
    const ran = promisify(execFile)('bash', ['-c', `exec 2>&1\n${command}`], {
      ...{ cwd, env: { ...process.env, PATH, ...env } },
    });
    const { stdout } = await ran.catch(({ stdout }) => assert.fail(`${here}\n${stdout}`));
    return stdout;
  };
  /** @param toWhole makes what is run of a block. */
  const follow = async (page: string, toWhole = (text: string) => text) => {
    for (const { reason, by, language, text = '', output } of await readBlocks(page)) {
      if (reason || by) continue;
      const printed = await run(toWhole(text), language);
      const same = (shown: string) => shown.replaceAll(folder, '').replace(CHANGING, '$1…');
      assert.equal(same(printed), same(output ?? printed), text);
    }
  };
  return { cwd, run, follow };
}

/** What runs a block of this language. A table of CSV is the file that the page imports. */
const PROGRAMS: Readonly<Record<string, string>> = {
  sh: 'bash -euo pipefail',
  sql: 'psql -v ON_ERROR_STOP=1',
  csv: 'cat > pets.csv',
  py: 'venv/bin/python',
  js: 'node --input-type=module',
};
/** The text of a key, a time, and the place of a database. */
const CHANGING = /(petstore_(?:prod|stag)_|postgres:\/\/)[^\s']+|\d{4}-\d\d-\d\dT[\d:]+Z/g;

test('pages › docs/operations.md › its blocks do what it says', async () => {
  await using cluster = await startCluster();
  await queryOnce(cluster.url(), 'create database copied');
  const { run, follow } = await createMachine({}, cluster.url('copied'));
  await run(`petstore keys create --name web --environment production
    petstore keys create --name reports --read-only --environment production
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
  // As its text says: the owner makes the tables, in the database `petstore`.
  await follow('docs/postgresql.md', (text) => {
    if (/^grant .* on pets /m.test(text)) return `\\c petstore\n${text}`;
    const isOwner = text.includes('keys create');
    return isOwner ? `export PETSTORE_DATABASE=${address('petstore_owner')}; ${text}` : text;
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

test('pages › docs/data.md › its blocks do what it says', async () => {
  const { run, follow } = await createMachine({}, '');
  await follow('docs/data.md', (text) => {
    // Who pastes a block twice keeps what undoes it.
    const [undone] = /^.* --json >.*$/m.exec(text) ?? [];
    const twice = undone ? `${text}(${undone}) 2>/dev/null || true` : text;
    return text.includes('list.csv --update --dry-run')
      ? `sed -i 's/Rex;3/Max;3/' list.csv; echo ';Mia;7;' >> list.csv\n${twice}`
      : twice;
  });
  assert.deepEqual((await run('petstore pets export 2>/dev/null')).trim().split('\n'), [
    '{"id":1,"name":"Rex","categoryId":3,"status":"available"}',
    '{"id":2,"name":"小白","categoryId":9223372036854775807}',
    '{"id":3,"name":"Mia","categoryId":7}',
    '{"id":4,"name":"Mia","categoryId":7}',
  ]);
});

/** What has the two next pages of clients in front of them, and behind them. */
const AROUND: Readonly<Record<string, readonly [before: string, after: string]>> = {
  httpx: [
    `import httpx, os
client = httpx.Client(base_url=os.environ["URL"], headers={"Authorization": "Bearer " + os.environ["KEY"]})
page = client.get("/pets?limit=1")\n`,
    'assert page.json()[0]["id"] == 2, page.text',
  ],
  axios: [
    `import axios from 'axios';
const client = axios.create({ baseURL: process.env.URL, headers: { authorization: 'Bearer ' + process.env.KEY } });
let page = await client.get('/pets?limit=1');
const link = /<(.*)>/.exec(page.headers.link)[1];\n`,
    'if (page.data[0].id !== 2) throw page.data;',
  ],
};

test('pages › docs/clients.md › its commands make clients, its lines read the next page', async () => {
  await using service = await startService([], { cwd: createProcessFolder() });
  const { url, key } = service;
  const go = await installPython('clients-go', join(ROOT, '.ci/clients/go/requirements.txt'));
  const env = { KEY: key, URL: `${url}/v1`, npm_config_yes: 'true' };
  const { cwd, run, follow } = await createMachine(env, '', dirname(process.execPath), go);
  const config = 'hey-api.config.ts';
  await copyFile(join(ROOT, '.ci/clients/typescript', config), join(cwd, config));
  await run(`for name in Rex Mia; do
      curl --fail -H "Authorization: Bearer $KEY" --json "{\\"name\\":\\"$name\\",\\"categoryId\\":3}" $URL/pets
    done
    python3 -m venv venv; venv/bin/pip install httpx; npm install axios@1.21.1; go mod init petstore.test/client`);
  await follow('docs/clients.md', (text) => {
    const [before, after] = AROUND[/httpx|axios/.exec(text)?.[0] ?? ''] ?? [
      '. venv/bin/activate\n',
      '',
    ];
    return (before + text + after).replaceAll('http://127.0.0.1:8080', url);
  });
  await run('ls petstore.ts petstore/client.py petstore/petstore.go petstore/pom.xml');
});
