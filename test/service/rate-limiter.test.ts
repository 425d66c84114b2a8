/** Token buckets over time. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenBuckets } from '../../src/http/hooks/rate-limit.ts';

test('TokenBuckets › two keys over time › each is told what it may still send', () => {
  let now = 0;
  const buckets = new TokenBuckets(4, 3, () => now);
  // A token takes 250 ms.
  for (const [at, key, ...left] of [
    [0, 1, 2, 1, 0, -1],
    // What is refused does not put off the next one.
    [150, 1, -1],
    [249, 1, -1],
    [250, 1, 0, -1],
    [250, 2, 2],
    // A part of a token is kept, and no more than the burst.
    [875, 1, 1],
    [1_000, 1, 1],
    [9_000, 1, 2, 1],
  ] as const) {
    now = at;
    for (const each of left) assert.equal(buckets.take(key), each, `key ${key} at ${at} ms`);
  }
});
