/** Token buckets, for any limit and any course of requests. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TokenBuckets } from '../../src/service/token-buckets.ts';

const limit = fc.record({
  perSecond: fc.integer({ min: 1, max: 1_000_000 }),
  burst: fc.integer({ min: 1, max: 1_000_000 }),
});

/** Requests one after the other: what each takes, and the milliseconds before it. */
const course = fc.array(
  fc.record({
    key: fc.integer({ min: 1, max: 3 }),
    count: fc.integer({ min: 1, max: 2_000 }),
    ms: fc.double({ min: 0, max: 2_000, noNaN: true }),
  }),
  { maxLength: 100 },
);

/** What rounding may add up to. */
const ROUNDING = 1e-3;

test('TokenBuckets › any course of requests › never gives more than a burst and the rate, from any moment to any other', () => {
  fc.assert(
    fc.property(limit, course, ({ perSecond, burst }, steps) => {
      const buckets = new TokenBuckets({ perSecond, burst });
      let now = 0;
      const given = steps.map(({ key, count, ms }) => {
        now += ms;
        return { key, now, taken: buckets.take(key, count, now).taken };
      });
      for (const [first, { key, now: from }] of given.entries()) {
        let sum = 0;
        for (const { now: to, taken } of given.slice(first).filter((each) => each.key === key)) {
          sum += taken;
          assert.ok(sum <= burst + ((to - from) * perSecond) / 1_000 + ROUNDING);
        }
      }
    }),
  );
});

test('TokenBuckets › any course of requests › gives all that is there', () => {
  fc.assert(
    fc.property(limit, course, ({ perSecond, burst }, steps) => {
      const buckets = new TokenBuckets({ perSecond, burst });
      const tokens = new Map<number, number>();
      const seen = new Map<number, number>();
      let now = 0;
      for (const { key, count, ms } of steps) {
        now += ms;
        const passed = now - (seen.get(key) ?? 0);
        const there = Math.min(burst, (tokens.get(key) ?? burst) + (passed * perSecond) / 1_000);
        const { taken, left } = buckets.take(key, count, now);
        assert.ok(Number.isInteger(taken) && taken >= 0 && taken <= count);
        assert.ok(Math.abs(taken + left - there) < ROUNDING);
        assert.ok(taken === count || left < 1);
        tokens.set(key, there - taken);
        seen.set(key, now);
      }
    }),
  );
});

test('TokenBuckets › what is put back › can be taken again, up to a burst', () => {
  fc.assert(
    fc.property(limit, fc.nat(1_000_000), fc.nat(1_000_000), ({ perSecond, burst }, out, back) => {
      const buckets = new TokenBuckets({ perSecond, burst });
      const { taken } = buckets.take(1, out, 5);
      buckets.take(1, -back, 5);
      assert.equal(buckets.take(1, burst, 5).taken, Math.min(burst, burst - taken + back));
    }),
  );
});

test('TokenBuckets › a full burst at once › is given to the last token, whatever the rate', () => {
  fc.assert(
    fc.property(limit, fc.double({ min: 0, max: 1e9, noNaN: true }), (any, now) => {
      const burst = Math.min(any.burst, 200);
      const buckets = new TokenBuckets({ ...any, burst });
      for (let left = burst - 1; left >= 0; left -= 1) {
        assert.deepEqual(buckets.take(1, 1, now), { taken: 1, left });
      }
      assert.equal(buckets.take(1, 1, now).taken, 0);
    }),
  );
});

test('TokenBuckets › many keys, most of them long ago › are forgotten, but for those that are not full', () => {
  const buckets = new TokenBuckets({ perSecond: 1, burst: 2 });
  const isFew: boolean[] = [];
  for (let key = 1; key <= 100_000; key += 1) {
    buckets.take(key, 2, key);
    isFew.push(buckets.size <= 2 * 2_000 + 1_000);
  }
  assert.ok(isFew.every(Boolean));
  // The first of those that are not full again is as empty as it should be.
  assert.equal(buckets.take(98_500, 2, 100_000).taken, 1);
  assert.equal(buckets.take(99_500, 2, 100_000).taken, 0);
});

test('TokenBuckets › 1,000 keys whose tokens were all put back › are forgotten for the next', () => {
  const buckets = new TokenBuckets({ perSecond: 1, burst: 2 });
  for (let key = 1; key <= 1_000; key += 1) {
    buckets.take(key, 2, 0);
    buckets.take(key, -2, 0);
  }
  assert.equal(buckets.size, 1_000);
  buckets.take(0, 1, 0);
  assert.equal(buckets.size, 1);
});
