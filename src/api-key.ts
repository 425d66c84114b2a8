/** The API key's format: how one is made, recognised and digested. Where keys are kept is not said here. */

import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The two environments of the interface; a key of one does not open the other. */
export const ENVIRONMENTS = ['staging', 'production'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 30;
const CHECKSUM_CHARACTERS = 6;

/** The words in front of a key, so that a person and a secret scanner know it at sight. */
const PREFIXES: Readonly<Record<Environment, string>> = {
  staging: 'petstore_stag_',
  production: 'petstore_prod_',
};

const API_KEY = /^petstore_(?:prod|stag)_[0-9A-Za-z]{36}$/;

/** A new key: the prefix, 30 random base62 characters (178 bits), and a checksum over both. */
export function issueApiKey(environment: Environment): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => BASE62[randomInt(BASE62.length)]);
  const body = PREFIXES[environment] + random.join('');
  return body + checksum(body);
}

/** Whether the text is a key of that environment with a true checksum; says nothing of whether it was ever issued. */
export function isApiKeyOf(environment: Environment, text: string): boolean {
  return (
    text.startsWith(PREFIXES[environment]) &&
    API_KEY.test(text) &&
    text.endsWith(checksum(text.slice(0, -CHECKSUM_CHARACTERS)))
  );
}

/** The SHA-256 of a key, 32 bytes: all that is ever stored of it. */
export function digestApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** CRC-32 as six base62 digits, the way GitHub's tokens end: a mistyped key is known without a look-up. */
function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let place = 0; place < CHECKSUM_CHARACTERS; place += 1) {
    digits = BASE62[rest % BASE62.length] + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
