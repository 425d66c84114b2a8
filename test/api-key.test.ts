/** The text of an API key, its state, and what is kept of a new one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import {
  createApiKeyText,
  digestApiKey,
  ENVIRONMENTS,
  getKeyState,
  isApiKeyOf,
} from '../src/api-key.ts';

/** Keys whose checksums another CRC-32 has computed: they must stay valid. */
const STAGING_KEY = 'petstore_stag_0123456789ABCDEFGHIJabcdefghij2YTDD6';
const STAGING_KEY_OF_SMALL_CHECKSUM = 'petstore_stag_000000000000000000000000003310000vAo';
const PRODUCTION_KEY = 'petstore_prod_0123456789ABCDEFGHIJabcdefghij3flHJZ';

/** What may stand in the place of a character: all of ASCII, others, and nothing. */
const OTHERS = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ...['', '\u00e9', '\u{1f436}', '\ud83d', '\uff10'],
];

/** The text with its correct checksum, whatever else is wrong with it. */
function seal(body: string): string {
  const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let digits = '';
  for (let rest = crc32(body); digits.length < 6; rest = Math.floor(rest / 62)) {
    digits = base62[rest % 62] + digits;
  }
  return body + digits;
}

test('createApiKeyText › a thousand times › makes different keys in which every character occurs', () => {
  const keys = Array.from({ length: 1000 }, () => createApiKeyText('production'));
  assert.equal(new Set(keys).size, 1000);
  assert.equal(new Set(keys.flatMap((key) => [...key.slice(14, 44)])).size, 62);
  const firsts = new Set(keys.map((key) => key.slice(14, 22)));
  const lasts = new Set(keys.map((key) => key.slice(36, 44)));
  assert.deepEqual([firsts.size, lasts.size], [1000, 1000]);
});

test('isApiKeyOf › a key that was issued before › is a key of its environment alone', () => {
  for (const key of [STAGING_KEY, STAGING_KEY_OF_SMALL_CHECKSUM]) {
    assert.deepEqual([isApiKeyOf('staging', key), isApiKeyOf('production', key)], [true, false]);
  }
  assert.equal(isApiKeyOf('production', PRODUCTION_KEY), true);
  assert.equal(isApiKeyOf('staging', PRODUCTION_KEY), false);
});

test('isApiKeyOf › a key with any one character changed, or left out › is refused', () => {
  for (const key of [STAGING_KEY_OF_SMALL_CHECKSUM, PRODUCTION_KEY]) {
    for (const [place, own] of [...key].entries()) {
      for (const other of OTHERS) {
        if (other === own) continue;
        const changed = key.slice(0, place) + other + key.slice(place + 1);
        for (const any of ENVIRONMENTS) assert.equal(isApiKeyOf(any, changed), false, changed);
      }
    }
  }
});

for (const [what, body] of [
  ['one character too few', STAGING_KEY.slice(0, 43)],
  ['one character too many', STAGING_KEY.slice(0, 45)],
  ['a character that is not base62', STAGING_KEY.slice(0, 43).concat('_')],
  ['a second line', STAGING_KEY.concat('\nx')],
] as const) {
  test(`isApiKeyOf › ${what} with a true checksum › is refused`, () => {
    assert.equal(isApiKeyOf('staging', seal(STAGING_KEY.slice(0, 44))), true);
    assert.equal(isApiKeyOf('staging', seal(body)), false);
  });
}

test('digestApiKey › a key › is its SHA-256 in 32 bytes', () => {
  assert.equal(
    digestApiKey(STAGING_KEY).toString('hex'),
    '66282706833b190b80fb5454ca84f453a7f483025065770bbae3c551e79430e2',
  );
});

for (const [what, key, expected] of [
  ['expires later', { expiresAt: 1_001 }, 'active'],
  ['expires now', { expiresAt: 1_000 }, 'expired'],
  ['is revoked', { revokedAt: 999 }, 'revoked'],
  ['has expired and is revoked', { expiresAt: 1, revokedAt: 999 }, 'revoked'],
] as const) {
  test(`getKeyState › a key that ${what} › is ${expected}`, () => {
    assert.equal(getKeyState(key, 1_000), expected);
  });
}
