/** The int64 of the interface, parsed from its digits: a double would round beyond 2^53. */

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** An int64 has at most 19 digits; more are refused before a bigint is made of them. */
const INT64_DIGITS_MAX = 19;

const JSON_NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const CANONICAL = /^(?:0|-?[1-9]\d{0,18})$/;

/** The int64 of a JSON number (RFC 8259 section 6) in any spelling, such as `1.0` and `1e2`; undefined if it is none. */
export function findInt64(digits: string): bigint | undefined {
  const match = JSON_NUMBER.exec(digits);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const all = whole + fraction;
  let end = all.length;
  while (all[end - 1] === '0') end -= 1;
  const significant = all.slice(0, end).replace(/^0+/, '');
  if (significant === '') return 0n;
  const scale = Number(exponent) - fraction.length + (all.length - end);
  if (scale < 0 || significant.length + scale > INT64_DIGITS_MAX) return undefined;
  return inRange(BigInt(`${sign}${significant}${'0'.repeat(scale)}`));
}

/** The int64 of a canonical decimal such as `7`; undefined for `07`, `+7`, `7.0` and other texts. */
export function findCanonicalInt64(decimal: string): bigint | undefined {
  return CANONICAL.test(decimal) ? inRange(BigInt(decimal)) : undefined;
}

/** Digits, or digits and `.0`: pandas writes a column of integers so if it has gaps. */
const PLAIN_INTEGER = /^(?:0|-?[1-9]\d*)(\.0)?$/;

/** Whether a text outside of JSON is an integer. With `.0`, it was a double, which is exact only up to 2^53. */
export function isPlainInteger(text: string): boolean {
  const match = PLAIN_INTEGER.exec(text);
  return match !== null && (match[1] === undefined || Number.isSafeInteger(Number(text)));
}

const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /^[+-]?\d+(?:[.,]\d+)?e[+-]?\d+$/i,
    'is written with an exponent: write all digits (in a spreadsheet, format the column as a number without decimals, or as text)',
  ],
  [/^[+-]?0\d+$/, 'has leading zeros: write the number without them'],
  [/^[+-]?\d{1,3}(?:[.,'’\s]\d{3})+$/, 'has more than digits: write a whole number in digits only'],
];

export function explainInteger(text: string): string | undefined {
  return REASONS.find(([pattern]) => pattern.test(text))?.[1];
}

function inRange(value: bigint): bigint | undefined {
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}
