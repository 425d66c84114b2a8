/** Tables of commands. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTable } from '../../src/cli/output.ts';

for (const [what, name, line] of [
  ['Han', '小白', '小白    1'],
  ['an emoji of several', '👩‍👩‍👧', '👩‍👩‍👧      1'],
  ['a combining mark', 'e\u0301', 'e\u0301       1'],
  ['C1 and a line end', '\u009b\n', '\ufffd\ufffd      1'],
  ['directions', '\u202e\u2066', '\ufffd\ufffd      1'],
  ['Han, the widest of its column', '小白小白', '小白小白  1'],
] as const) {
  test(`toTable › a cell with ${what} › takes its columns of a terminal`, async () => {
    const table = await toTable([
      ['NAME12', 'ID'],
      [name, '1'],
    ]);
    assert.equal(table.split('\n')[1], line);
  });
}
