/** Which digits are an int64, and which int64 they are. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findCanonicalInt64, findInt64, INT64_MAX, INT64_MIN } from '../src/int64.ts';
import { int64 } from './arbitraries.ts';

const spelling = fc.record({
  /** Trailing zeros of the coefficient go into the exponent first: 100 becomes 1e2. */
  short: fc.boolean(),
  /** Zeros written after the coefficient, taken back by the exponent. */
  zeros: fc.nat(30),
  /** How many digits stand behind the point. */
  fraction: fc.nat(60),
  mark: fc.constantFrom('e', 'E'),
  plus: fc.constantFrom('', '+'),
  exponentZeros: fc.nat(3),
});
type Spelling = typeof spelling extends fc.Arbitrary<infer Value> ? Value : never;

/** Integers that end in many zeros, which random ones rarely do. */
const round = fc
  .tuple(fc.bigInt({ min: -922n, max: 922n }), fc.bigInt({ min: 0n, max: 16n }))
  .map(([head, zeros]) => head * 10n ** zeros);

const outside = fc.oneof(
  fc.bigInt({ min: INT64_MAX + 1n, max: 10n ** 25n }),
  fc.bigInt({ min: -(10n ** 25n), max: INT64_MIN - 1n }),
  fc.constantFrom(INT64_MAX + 1n, INT64_MIN - 1n, 2n ** 64n, 10n ** 19n),
);

/** A JSON number that stands for coefficient × 10^exponent. */
function spell(coefficient: bigint, exponent: number, how: Spelling): string {
  const sign = coefficient < 0n ? '-' : '';
  const plain = String(coefficient).replace('-', '');
  const head = how.short ? plain.replace(/(?<=.)0+$/, '') : plain;
  const digits = (head + '0'.repeat(how.zeros)).padStart(how.fraction + 1, '0');
  const point = digits.length - how.fraction;
  const whole = digits.slice(0, point).replace(/^0+(?=.)/, '');
  const fraction = how.fraction === 0 ? '' : `.${digits.slice(point)}`;
  const power = exponent + (plain.length - head.length) - how.zeros + how.fraction;
  const powerSign = power < 0 ? '-' : how.plus;
  const powerDigits = '0'.repeat(how.exponentZeros) + Math.abs(power);
  const written = power === 0 && how.short ? '' : how.mark + powerSign + powerDigits;
  return sign + whole + fraction + written;
}

for (const text of ['', ' 1', '1 ', '1\n', ...'01 +1 .5 1. 1e 0x10 1_0 1n --1 ١'.split(' ')]) {
  test(`findInt64 › ${JSON.stringify(text)}, which is no JSON number › is none`, () => {
    assert.equal(findInt64(text), undefined);
  });
}

test('findInt64 › any int64 in any spelling › comes back', () => {
  fc.assert(
    fc.property(fc.oneof(int64, round), spelling, (value, how) => {
      assert.equal(findInt64(spell(value, 0, how)), value);
    }),
  );
});

test('findInt64 › any number with a fraction, or outside int64, in any spelling › is none', () => {
  const last = fc.bigInt({ min: 1n, max: 9n });
  const places = fc.integer({ min: 1, max: 25 });
  const fraction = fc
    .tuple(fc.oneof(int64, round), last, places)
    .map(
      ([tens, units, exponent]) => [tens * 10n + (tens < 0n ? -units : units), -exponent] as const,
    );
  const whole = outside.map((value) => [value, 0] as const);
  fc.assert(
    fc.property(fc.oneof(fraction, whole), spelling, ([coefficient, exponent], how) => {
      assert.equal(findInt64(spell(coefficient, exponent, how)), undefined);
    }),
  );
});

test('findCanonicalInt64 › any text › is the int64 that it is the decimal of, or none', () => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'0123456789-+.e ') }),
    int64.map(String),
    outside.map(String),
    fc.tuple(int64, spelling).map(([value, how]) => spell(value, 0, how)),
  );
  fc.assert(
    fc.property(text, (decimal) => {
      const value = findCanonicalInt64(decimal);
      const isDecimal = /^-?\d+$/.test(decimal) && String(BigInt(decimal)) === decimal;
      const isInt64 = isDecimal && BigInt.asIntN(64, BigInt(decimal)) === BigInt(decimal);
      assert.equal(value, isInt64 ? BigInt(decimal) : undefined);
    }),
  );
});
