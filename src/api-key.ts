/** The API key: its text, what is kept of it, and its state. */

import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 30;
const CHECKSUM_CHARACTERS = 6;

/** A prefix lets a person and a secret scanner recognise a key and its environment. */
const PREFIXES = { staging: 'petstore_stag_', production: 'petstore_prod_' };

export type Environment = keyof typeof PREFIXES;
export const ENVIRONMENTS = Object.keys(PREFIXES) as readonly Environment[];

/** An API key as a store keeps it, without its text. All times are in milliseconds since 1970. */
export interface ApiKey {
  /** Counts up from 1. Names the key on the command line and in the log. */
  readonly id: number;
  /** Given by the operator: 1 to 100 characters, not unique. */
  readonly name: string;
  readonly environment: Environment;
  /** Whether the key may only list and get pets; absent: it may also add pets. */
  readonly isReadOnly?: boolean;
  readonly createdAt: number;
  /** Refused from this time on; absent: never expires. */
  readonly expiresAt?: number;
  /** Up to a minute old; absent: never used. */
  readonly lastUsedAt?: number;
  /** Refused from this time on; absent: not revoked. */
  readonly revokedAt?: number;
  /** When another key was made to replace this one; absent: not rotated. */
  readonly rotatedAt?: number;
}

export type NewApiKey = Pick<
  ApiKey,
  'name' | 'environment' | 'isReadOnly' | 'createdAt' | 'expiresAt'
> & {
  readonly digest: Uint8Array;
};

/** The state of a key at that time, in milliseconds since 1970. A revoked key stays revoked when it expires. */
export function getKeyState(
  { revokedAt, expiresAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt'>,
  now: number,
): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active';
}

export interface KeyOptions {
  readonly name: string;
  readonly environment: Environment;
  readonly readOnly?: boolean | undefined;
  /** How long the key is valid, in milliseconds; absent: it never expires. */
  readonly expires?: number | undefined;
}

export function createApiKey({ name, environment, readOnly, expires }: KeyOptions, now: number) {
  const text = createApiKeyText(environment);
  const newKey: NewApiKey = {
    digest: digestApiKey(text),
    name,
    environment,
    createdAt: now,
    ...(readOnly && { isReadOnly: true }),
    ...(expires !== undefined && { expiresAt: now + expires }),
  };
  return { text, newKey };
}

/** The text of a new key: the prefix, 30 random base62 characters (178 bits), and a checksum over both. */
export function createApiKeyText(environment: Environment): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => BASE62[randomInt(BASE62.length)]);
  const body = PREFIXES[environment] + random.join('');
  return body + checksum(body);
}

/** Whether the text has the form and the checksum of a key of that environment; no store may have it. */
export function isApiKeyOf(environment: Environment, text: string): boolean {
  const prefix = PREFIXES[environment];
  return (
    text.startsWith(prefix) &&
    /^[0-9A-Za-z]{36}$/.test(text.slice(prefix.length)) &&
    text.endsWith(checksum(text.slice(0, -CHECKSUM_CHARACTERS)))
  );
}

/** The state of the key that the store has for a token, or why the token has no key of this environment. */
export function judgeToken(
  key: ApiKey | undefined,
  token: string,
  environment: Environment,
  now: number,
) {
  if (key?.environment === environment) return getKeyState(key, now);
  if (key === undefined && isApiKeyOf(environment, token)) return 'unknown';
  const isKey = ENVIRONMENTS.some((each) => isApiKeyOf(each, token));
  return isKey ? 'other environment' : 'malformed';
}

/** Why a request is 401. */
export type KeyRefusal = Exclude<ReturnType<typeof judgeToken>, 'active'> | 'missing';

/** The SHA-256 of a key's text, 32 bytes. A store has this digest in place of the text. */
export function digestApiKey(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** CRC-32 as six base62 digits, as GitHub's tokens have: a mistyped key is refused without a query. */
function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  while (digits.length < CHECKSUM_CHARACTERS) {
    digits = BASE62[rest % BASE62.length] + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
