/** What stands in several places of the source, and what each of its files begins with. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { test } from 'node:test';
import manifest from '../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

// Neither file may import anything before it has looked: an older Node could not.
test('the oldest Node › in the launcher and in the command › is that of engines', () => {
  const majors = ['runtime/node.cjs', 'src/cli/bin.ts'].map(
    (file) => /^const MAJOR_MIN = (\d+);$/m.exec(read(file))?.[1],
  );
  const oldest = manifest.engines.node.replace('>=', '');
  assert.deepEqual(majors, [oldest, oldest]);
});

test('src › each file › is named by another one', () => {
  const files = globSync('src/**/*.{ts,html,css}', { cwd: ROOT });
  const texts = [...files, 'package.json'].map(read);
  const unnamed = files.filter((file) => {
    const named = `/${parse(file).name}.`;
    return !texts.some((text, index) => files[index] !== file && text.includes(named));
  });
  assert.deepEqual(unnamed, []);
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
