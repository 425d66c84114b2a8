/** The prose of the Markdown files, of CHANGELOG only the next release; and what is found in prose. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findFaults } from '../prose.ts';
import { ROOT } from '../run.ts';

test('prose › of each document › has no fault', () => {
  const files = globSync(['*.md', 'client/*.md', '{docs,src}/**/*.md'], { cwd: ROOT }).sort();
  const found = files.flatMap((file) => {
    const [text = ''] = readFileSync(join(ROOT, file), 'utf8').split(/^## \d/m);
    return findFaults(text).map(({ line, reason }) => `${file}:${line}: ${reason}`);
  });
  assert.ok(files.includes('README.md'));
  assert.deepEqual(found, []);
});

test('prose › of all documents, without generated parts › has at most 15,000 words', () => {
  const files = globSync(['*.md', 'client/*.md', 'docs/**/*.md'], { cwd: ROOT });
  const written = files
    .filter((file) => file !== 'CHANGELOG.md')
    .map((file) => readFileSync(join(ROOT, file), 'utf8'))
    .join('\n')
    .replace(/<!-- generated:.*?<!-- end of/gs, '');
  const count = written.split(/\s+/).length;
  assert.ok(count > 10_000 && count <= 15_000, `${count} words`);
  assert.ok(readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n').length <= 151);
});

const words = (count: number) => Array(count).fill('word').join(' ');
const LONG = 'a sentence has 31 words, more than 30';
const NUMBER = 'write "such as" before a number';

const CASES: readonly (readonly [name: string, markdown: string, ...faults: string[]])[] = [
  ['a sentence of 30 words', `${words(30)}. ${words(30)}.`],
  ['a sentence of 31 words', `Short.\nAlso short. ${words(31)}.`, `2: ${LONG}`],
  ['a long sentence over lines', `# Title\n\n${words(16)}\n${words(15)}.`, `3: ${LONG}`],
  ['a long item of a list', `- ${words(16)}\n- ${words(31)}\n`, `2: ${LONG}`],
  ['a heading and paragraphs', `# ${words(16)}\n${words(16)}\n\n${words(16)}`],
  ['a long cell', `| a | ${words(20)}. ${words(21)} |`, '1: a cell has 41 words, more than 40'],
  ['cells of 40 words', `| a | b |\n|---|---|\n| ${words(20)}. ${words(20)} | ${words(20)} |`],
  ['a code', `${words(29)} \`one two three. four\``],
  ['a block of code', `\`\`\`sh\n${words(31)} as 7\n\`\`\``],
  ['behind a block of code', `\`\`\`sh\nword\n\`\`\`\nOnly, as 7`, `4: ${NUMBER}`],
  [
    '"as" before a number',
    'The id, as 7 or\nas `7`. It is such as 7,\nsuch\nas 8, as fast as 9, as 64-bit',
    `1: ${NUMBER}`,
    `2: ${NUMBER}`,
  ],
  ['"alone"', 'Read by its owner\nalone', '2: write "only" for "alone"'],
  ['"Of"', 'Two of them. Of these, one', '1: a sentence starts with "Of"'],
];

for (const [name, markdown, ...expected] of CASES) {
  test(`prose › ${name} › ${expected.length === 0 ? 'passes' : 'is found'}`, () => {
    const found = findFaults(markdown).map(({ line, reason }) => `${line}: ${reason}`);
    assert.deepEqual(found, expected);
  });
}
