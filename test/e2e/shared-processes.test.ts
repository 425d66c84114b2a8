/** Test files that share a process: each runs once, by itself, and its failures are told as its own. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { dealFiles, shareProcesses, toModule } from '../support/shared-processes.ts';
import { createFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const RUN_FILES = join(ROOT, 'test/support/run-files.ts');

/** Runs files of these texts in one process, by the test runner. */
async function runTogether(texts: Readonly<Record<string, string>>) {
  await using folder = await createFolder();
  const files = Object.keys(texts).map((name) => join(folder.path, name));
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder.path, name), text);
  const entry = join(folder.path, 'entry.js');
  await writeFile(entry, toModule(RUN_FILES, files));
  // Otherwise it would take itself for a part of this run.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, ['--test', entry], {
    ...{ cwd: folder.path, env, encoding: 'utf8', timeout: 45_000, killSignal: 'SIGKILL' },
  });
  return { status, output: stdout };
}

const HOOKED = `
  import { after, beforeEach, test } from 'node:test';
  console.log(await 'loaded NAME');
  beforeEach(() => console.log('before NAME'));
  after(() => console.log('after NAME'));
  test('a test of NAME', () => console.log('within NAME'));`;

test('shared processes › the files of this suite › are each in one of them', () => {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).sort();
  const processes = dealFiles(files);
  assert.deepEqual([...processes.values()].flat().sort(), files);
  assert.ok(processes.size < files.length / 2);
});

test('shared processes › a second run at the same time › leaves the files of the first', () => {
  const share = (...patterns: string[]) => shareProcesses('of-a-test', patterns);
  const ofFirst = share('test/*.test.ts', 'test/service/*.test.ts', 'test/cli/keys.test.ts');
  const written = () => ofFirst.map((file) => statSync(join(ROOT, file)).mtimeMs);
  try {
    utimesSync(join(ROOT, ofFirst[0] ?? ''), 1, 1);
    const before = written();
    share('test/*.test.ts', 'test/service/*.test.ts', 'test/cli/keys.test.ts');
    assert.deepEqual(written(), before);
    const [file, ...others] = share('test/cli/keys.test.ts');
    assert.deepEqual(readdirSync(dirname(join(ROOT, file ?? ''))), [basename(file ?? '')]);
    assert.deepEqual(others, []);
  } finally {
    rmSync(dirname(join(ROOT, ofFirst[0] ?? '')), { recursive: true });
  }
});

test('shared processes › files with hooks › run one after the other, each with its own hooks', async () => {
  const [a, b] = ['a', 'b'].map((name) => HOOKED.replaceAll('NAME', name));
  const { status, output } = await runTogether({ 'a.js': a ?? '', 'b.js': b ?? '' });
  assert.equal(status, 0, output);
  assert.deepEqual(output.match(/^(?:loaded|before|within|after) \w$/gm), [
    ...['loaded a', 'before a', 'within a', 'after a'],
    ...['loaded b', 'before b', 'within b', 'after b'],
  ]);
});

test('shared processes › a test that fails › is told by its file and line, and the others run', async () => {
  const { status, output } = await runTogether({
    'a.js': `import { test } from 'node:test';\n\ntest('bad', () => { throw new Error('no'); });`,
    'b.js': HOOKED,
  });
  assert.equal(status, 1, output);
  assert.match(output, /^test at a\.js:3:1$/m);
  assert.match(output, /^ℹ pass 1\nℹ fail 1$/m);
});

for (const [what, text] of [
  ['throws as it is loaded', `import 'node:test'; throw new Error('no');`],
  ['imports what is not there', `import './none.js';`],
  [
    'fails in a hook',
    `import { after, test } from 'node:test'; test('good'); after(() => { throw new Error('no'); });`,
  ],
  ['ends the process', `import { test } from 'node:test'; test('exits', () => process.exit(0));`],
] as const) {
  test(`shared processes › a file that ${what} › fails, and is told by its process`, async () => {
    const { status, output } = await runTogether({ 'a.js': text, 'b.js': HOOKED });
    assert.equal(status, 1, output);
    assert.match(output, /^test at entry\.js:\d+:\d+$/m);
  });
}
