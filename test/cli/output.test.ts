/** Tables of commands. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTable } from '../../src/cli/output.ts';

for (const [what, name, width] of [
  ['ASCII', 'Rex', 3],
  ['Han', '小白', 4],
  ['an emoji of several', '👩‍👩‍👧', 2],
  ['a combining mark', 'e\u0301', 1],
  ['a control sequence', '\x1b[31mRex', '\\u001b[31mRex'.length],
  ['C1, line ends and directions', '\u009b\n\u2028\u202e\u2066', 5 * 6],
] as const) {
  test(`toTable › a cell with ${what} › takes ${width} columns`, async () => {
    const table = await toTable([
      ['NAME', 'ID'],
      [name, '1'],
      ['x'.repeat(40), '2'],
    ]);
    const [, line = ''] = table.split('\n');
    const [, text = '', spaces = '', rest] = /^(.*?)( +)(1)$/u.exec(line) ?? [];
    assert.deepEqual([spaces.length, rest], [40 - width + 2, '1']);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
    assert.doesNotMatch(text, /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
    assert.match(table, /^NAME {38}ID\n/);
  });
}

test('toTable › a column whose widest cell is of wide characters › is as wide', async () => {
  const table = [
    ['A', 'B'],
    ['小白', 'x'],
  ];
  assert.equal(await toTable(table), 'A     B\n小白  x\n');
});
