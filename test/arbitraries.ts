/** Random pets for the property tests. */

import fc from 'fast-check';
import { INT64_MAX, INT64_MIN } from '../src/int64.ts';
import { NAME_CODE_POINTS_MAX, NEW_PET_FIELDS, type NewPet, PET_STATUSES } from '../src/pet.ts';

/** Every code point that has the Unicode property White_Space, and U+FEFF, which JavaScript counts too. */
export const WHITE_SPACE = [
  ...'\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a',
  ...'\u2028\u2029\u202f\u205f\u3000\ufeff',
];

/** Code points that programs often get wrong: combining, joining, astral, composed and last ones. */
const DELICATE = [
  ...'\u0301\u200d\ufe0f\u{1f3fd}\u{1f436}\u{1f1e6}e\u00e9\u0001\uffff\u{10ffff}"\\{}:,',
];

/** One code point; `unit: 'binary'` of fast-check is the same, with a table that takes a second to make. */
export const anyCodePoint: fc.Arbitrary<string> = fc
  .nat(0x10ffff)
  .map((code) => String.fromCodePoint(code))
  .filter((text) => text.isWellFormed());

/** One code point that a name may hold: any but U+0000, never half a surrogate pair. */
const codePoint = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
  anyCodePoint.filter((unit) => unit !== '\0'),
  fc.constantFrom(...WHITE_SPACE),
  fc.constantFrom(...DELICATE),
);

/** A valid name of 1 to 255 code points; one in four is within five of the most. */
export const name: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 3, arbitrary: codePointsOf(1, NAME_CODE_POINTS_MAX) },
    { weight: 1, arbitrary: codePointsOf(NAME_CODE_POINTS_MAX - 5, NAME_CODE_POINTS_MAX) },
  )
  .filter((text) => [...text].some((unit) => !WHITE_SPACE.includes(unit)));

export const int64: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  fc.constantFrom(INT64_MIN, INT64_MAX, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 0n),
);

/** The valid values of each field. */
export const FIELD_VALUES: {
  readonly [Name in keyof Required<NewPet>]: fc.Arbitrary<Required<NewPet>[Name]>;
} = { name, categoryId: int64, status: fc.constantFrom(...PET_STATUSES) };

/** A valid pet, sometimes without its optional fields. */
export const newPet: fc.Arbitrary<NewPet> = fc.record(FIELD_VALUES, {
  requiredKeys: NEW_PET_FIELDS.filter(({ optional }) => !optional).map(({ name }) => name),
}) as fc.Arbitrary<NewPet>;

function codePointsOf(minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: codePoint, minLength, maxLength });
}
