/** What stands in several places of the source, and what each of its files begins with. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { HTTP_LIMITS } from '../../src/http/limits.ts';
import { SERVICE_LIMITS } from '../../src/service/limits.ts';
import { SERVE_OPTIONS } from '../../src/service/serve-options.ts';
import { STORE_LIMITS } from '../../src/storage/limits.ts';
import { NUMBERED, TABLES } from '../../src/storage/tables.ts';
import { createStoreCounts } from '../../src/store.ts';
import { ROOT } from '../run.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

// Neither file may import anything before it has looked: an older Node could not.
test('the oldest Node › in the launcher and in the command › is that of engines', () => {
  const majors = ['runtime/node.cjs', 'src/cli/bin.ts'].map(
    (file) => /^const MAJOR_MIN = (\d+);$/m.exec(read(file))?.[1],
  );
  const oldest = manifest.engines.node.replace('>=', '');
  assert.deepEqual(majors, [oldest, oldest]);
});

// An upgrade is shown from this version to the next one.
test('pages, manifests and scripts › each version of petstore › is that of package.json or the next', () => {
  const pages = '{*.md,{client,deploy,docs,scripts}/**/*.{md,ts,sh,yaml,json}}';
  const files = globSync(pages, { cwd: ROOT, exclude: ['CHANGELOG.md', '**/node_modules/**'] });
  const named = /\bpetstore(?:-client)?(?:[-:/ ]|\]\(\S+\) \| )(\d+\.\d+\.\d+)\b/g;
  const next = manifest.version.replace(/\d+$/, (patch) => String(Number(patch) + 1));
  const versions = files.flatMap((file) =>
    [...read(file).matchAll(named)].map(([, version]) => ({ file, version })),
  );
  assert.ok(versions.length > 10);
  const others = versions.filter(({ version = '' }) => ![manifest.version, next].includes(version));
  assert.deepEqual(others, []);
  assert.equal(JSON.parse(read('client/package.json')).version, manifest.version);
  assert.ok(read('CHANGELOG.md').includes(`\n## ${manifest.version} — `));
});

test('src › each file › is named by another one', () => {
  const files = globSync('src/**/*.{ts,html,css,md}', { cwd: ROOT });
  const texts = [...files, 'package.json'].map(read);
  const unnamed = files.filter((file) => {
    const named = `/${parse(file).name}.`;
    return !texts.some((text, index) => files[index] !== file && text.includes(named));
  });
  assert.deepEqual(unnamed, []);
});

test('src › each limit, option of serve and count of a store › is used, and a count is in a metric', () => {
  const texts = new Map(globSync('src/**/*.ts', { cwd: ROOT }).map((file) => [file, read(file)]));
  const all = [...texts.values()].join();
  for (const file of texts.keys())
    if (file.endsWith('options.ts') && !file.startsWith('src/cli')) texts.delete(file);
  const metrics = read('src/service/metrics.ts');
  const withoutOptions = [...texts.values()].join();
  const limits = Object.keys({ ...HTTP_LIMITS, ...STORE_LIMITS, ...SERVICE_LIMITS });
  const options = Object.keys(SERVE_OPTIONS);
  const counts = Object.keys(createStoreCounts());
  const unused = [
    ...limits.filter((name) => !new RegExp(`(?:LIMITS\\.|const )${name}\\b`).test(all)),
    ...options.filter((name) => !new RegExp(`\\b${name}\\b`).test(withoutOptions)),
    ...counts.filter((name) => !new RegExp(`\\.${name} \\+= `).test(all)),
    ...counts.filter((name) => !new RegExp(`\\b${name}\\b`).test(metrics)),
  ];
  assert.deepEqual(unused, []);
});

/** What only commands do: their role may have more rights than the role of a service. */
const BY_COMMANDS = ['update pets', 'delete pets', 'update petstore_schema'];
const WRITE = /\b(insert|update|delete) (?:into |from )?(\w+) (?=set|as|where|\(|\$)/g;
const UPSERT = /\binsert into (\w+)[^`]*? do update /g;

test('src/storage › each table that a statement writes › has the right in tables.ts', () => {
  const files = globSync('src/storage/{,postgres/}*.ts', { cwd: ROOT });
  const texts = files.filter((file) => !file.endsWith('migrations.ts')).map(read);
  const written = texts.flatMap((text) => [
    ...text.matchAll(WRITE).map(([, right, table]) => ({ right, table })),
    ...text.matchAll(UPSERT).map(([, table]) => ({ right: 'update', table })),
  ]);
  assert.ok(written.length > 10);
  const missing = written
    .filter(({ right, table = '' }) => TABLES[table]?.rights.every((each) => each !== right))
    .map(({ right, table }) => `${right} ${table}`);
  assert.deepEqual(
    missing.filter((each) => !BY_COMMANDS.includes(each)),
    [],
  );
});

/** Pets have a settled mark, so that no page skips a row that is committed late. Keys are listed whole. */
const HAVE_NO_GAP = ['pets', 'api_keys'];

test('src/storage › each table with a sequence › is known to skip no row of its lists', () => {
  assert.deepEqual(NUMBERED, HAVE_NO_GAP);
});

test('src › the first line of each file › says in a sentence what the file is', () => {
  const firsts = globSync('src/**/*.ts', { cwd: ROOT }).map((file) => {
    const [first] = read(file)
      .replace(/^#!.*\n/, '')
      .split('\n');
    return `${file}: ${first}`;
  });
  assert.ok(firsts.length > 0);
  assert.deepEqual(
    firsts.filter((first) => !/: \/\*\* [A-Z`].*\. \*\/$/.test(first)),
    [],
  );
});
