/** The API key of a request against the keys of the store (RFC 6750, interface "Authentication"). */

import type { onRequestHookHandler } from 'fastify';
import {
  type ApiKey,
  digestApiKey,
  type Environment,
  isApiKeyOf,
  judgeToken,
} from '../../api-key.ts';
import { PetstoreError } from '../../error.ts';
import type { Log } from '../../log.ts';
import type { KeyStore } from '../../store.ts';
import type { HttpServerOptions } from '../server.ts';

const CACHED_KEYS_MAX = 1_000;
/** A revocation must hold within 1 s. */
const CACHED_KEY_MS_MAX = 500;

const TOUCH_MS_MIN = 60_000;

/** Made once: the stack of an error takes a sixth of the time of its answer. */
const UNAUTHORIZED = new PetstoreError('unauthorized');

/** The token is the rest of the text. With a `$` behind it, a long text could be searched again for each space. */
const CREDENTIALS = /^bearer +([^ ].*)/is;

/**
 * Finds the key of a token. A cached key comes without a promise, which would cost more than the rest of the hook.
 * `at` is the time now, by a clock that cannot be set back: that would keep a revoked key in use.
 */
export function createFindKey(keys: KeyStore, environment: Environment) {
  const cache = new Map<string, { readonly key: ApiKey; readonly at: number }>();
  /** What is asked for now: the requests of a busy key must not all ask for it at once. */
  const lookups = new Map<string, { key: Promise<ApiKey | undefined>; readonly at: number }>();

  async function readKey(token: string, at: number): Promise<ApiKey | undefined> {
    const key = await keys.find(digestApiKey(token), cache.has(token));
    if (key?.environment !== environment) return key;
    if (cache.size >= CACHED_KEYS_MAX && !cache.has(token)) cache.clear();
    cache.set(token, { key, at });
    return key;
  }

  return (token: string, at: number): ApiKey | undefined | Promise<ApiKey | undefined> => {
    const cached = cache.get(token);
    if (cached && at - cached.at < CACHED_KEY_MS_MAX) return cached.key;
    const lookup = lookups.get(token);
    if (lookup && at - lookup.at < CACHED_KEY_MS_MAX) return lookup.key;
    if (!isApiKeyOf(environment, token)) return undefined;
    const key = readKey(token, at).finally(() => lookups.delete(token));
    lookups.set(token, { key, at });
    return key;
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

/** The hook that lets a request with an active key pass, and answers every other with the same 401. */
export function createAuthenticate(
  { store, now = Date.now, log }: HttpServerOptions,
  environment: Environment,
): onRequestHookHandler {
  const findKey = createFindKey(store.keys, environment);
  const touch = createTouch(store.keys, log);

  return function authenticate(request, reply, done) {
    const at = performance.now();
    if (at - request.acceptedAt < CACHED_KEY_MS_MAX) return done();
    const { authorization } = request.headers;
    // Two Authorization fields arrive joined by a comma, which no key has.
    const token = CREDENTIALS.exec(authorization ?? '')?.[1] ?? '';
    const decide = (key: ApiKey | undefined) => {
      request.keyId = key?.id ?? null;
      const time = now();
      const state = judgeToken(key, token, environment, time);
      if (key !== undefined && state === 'active') {
        request.isReadOnly = key.isReadOnly === true;
        request.acceptedAt = performance.now();
        touch(key, time);
        return done();
      }
      const reason = authorization === undefined ? 'missing' : state;
      request.refusal = { code: 'unauthorized', reason };
      // If no credential was sent, the challenge names no error (RFC 6750 section 3.1).
      if (token === '') reply.header('www-authenticate', 'Bearer realm="petstore"');
      done(UNAUTHORIZED);
    };
    const found = findKey(token, at);
    if (found instanceof Promise) request.server.queue.identify(found).then(decide, done);
    else decide(found);
  };
}
