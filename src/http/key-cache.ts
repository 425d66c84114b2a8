/** The keys of the store that requests have sent lately, and the time of their last use. */

import { type ApiKey, digestApiKey, type Environment, isApiKeyOf } from '../api-key.ts';
import type { Log } from '../log.ts';
import type { KeyStore } from '../store.ts';

/** The cache is emptied when it is full. */
const CACHED_KEYS_MAX = 1_000;
/** A revocation must hold within 1 s. */
export const CACHED_KEY_MS_MAX = 500;

/** The least time between two writes of a key's time of last use. */
const TOUCH_MS_MIN = 60_000;

/**
 * Finds the key of a token. A cached key comes without a promise: the promise would cost more than the rest of the hook.
 * `at` is the time now, by a clock that cannot be set back: that would keep a revoked key in use.
 */
export function createFindKey(keys: KeyStore, environment: Environment) {
  const cache = new Map<string, { readonly key: ApiKey; readonly at: number }>();

  async function readKey(token: string, at: number): Promise<ApiKey | undefined> {
    const key = await keys.find(digestApiKey(token));
    if (key?.environment !== environment) return key;
    if (cache.size >= CACHED_KEYS_MAX && !cache.has(token)) cache.clear();
    cache.set(token, { key, at });
    return key;
  }

  return (token: string, at: number): ApiKey | undefined | Promise<ApiKey | undefined> => {
    const entry = cache.get(token);
    if (entry && at - entry.at < CACHED_KEY_MS_MAX) return entry.key;
    return isApiKeyOf(environment, token) ? readKey(token, at) : undefined;
  };
}

export function createTouch(keys: KeyStore, log: Log) {
  const touchedAt = new Map<number, number>();

  return ({ id, lastUsedAt = 0 }: ApiKey, at: number): void => {
    // A wrong clock may have written a time far in the future, which is replaced.
    const isRecent = (time: number) => Math.abs(at - time) < TOUCH_MS_MIN;
    if (isRecent(lastUsedAt) || isRecent(touchedAt.get(id) ?? 0)) return;
    touchedAt.set(id, at);
    keys.touch(id, at).catch((err: unknown) => {
      log.warn('time of last use not written', { err, keyId: id });
    });
  };
}
