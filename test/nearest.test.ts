/** Which known name a mistyped one is taken for. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNearest } from '../src/nearest.ts';

for (const [name, known, expected] of [
  ['PORT', [], undefined],
  ['PROT', ['HOST', 'PORT'], 'PORT'],
  ['HOSTS', ['PORT', 'HOST'], 'HOST'],
  // One character replaced is nearer than two added.
  ['PAT', ['PATIO', 'PUT'], 'PUT'],
] as const) {
  test(`findNearest › ${name} of ${known.join(', ')} › is ${expected}`, () => {
    assert.equal(findNearest(name, known), expected);
  });
}
