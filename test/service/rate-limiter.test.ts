/** Token buckets, for any limit and any course of requests. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TokenBuckets } from '../../src/http/token-buckets.ts';

const PER_SECOND_MAX = 1_000_000;

const perSecond = fc.oneof(
  fc.integer({ min: 1, max: 20 }),
  fc.integer({ min: 1, max: PER_SECOND_MAX }),
);

/** Requests one after the other: the key of each, and the milliseconds before it. */
const course = fc.array(
  fc.record({
    key: fc.integer({ min: 1, max: 3 }),
    ms: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 2_000, noNaN: true })),
  }),
  { maxLength: 100 },
);

/** What rounding may add up to. */
const ROUNDING = 1e-3;

test('TokenBuckets › any course of requests › each answer is what the key may still send', () => {
  fc.assert(
    fc.property(perSecond, fc.integer({ min: 1, max: 20 }), course, (rate, burst, steps) => {
      let now = 0;
      const buckets = new TokenBuckets(rate, burst, () => now);
      const tokens = new Map<number, number>();
      const seen = new Map<number, number>();
      for (const { key, ms } of steps) {
        now += ms;
        const passed = now - (seen.get(key) ?? 0);
        const filled = (tokens.get(key) ?? burst) + (passed * rate) / 1_000;
        const there = Math.min(burst, filled);
        const left = buckets.take(key);
        if (left < 0) assert.ok(filled < 1 + ROUNDING);
        else assert.ok(left <= there - 1 + ROUNDING && left > there - 2 - ROUNDING);
        tokens.set(key, left < 0 ? there : there - 1);
        seen.set(key, now);
      }
    }),
    // Two requests are refused within the second that a token takes. They do not put off the third.
    { examples: [[1, 1, [0, 600, 300, 200].map((ms) => ({ key: 1, ms }))]] },
  );
});
