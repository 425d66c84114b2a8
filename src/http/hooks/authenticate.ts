/** The API key of a request against the keys of the store (RFC 6750, interface "Authentication"). */

import type { HookHandlerDoneFunction as Done, FastifyReply, FastifyRequest } from 'fastify';
import {
  type ApiKey,
  digestApiKey,
  ENVIRONMENTS,
  type Environment,
  getKeyState,
  isApiKeyOf,
} from '../../api-key.ts';
import { PetstoreError } from '../../error.ts';
import type { KeyStore } from '../../store.ts';
import { CACHED_KEY_MS_MAX, CACHED_KEYS_MAX } from '../limits.ts';

/** The least time between two writes of a key's time of last use. */
const TOUCH_MS_MIN = 60_000;

/** Without `$`: a match is never tried again from an earlier character. */
const CREDENTIALS = /^bearer +([^ ].*)/is;
const CHALLENGE = 'Bearer realm="petstore"';
const OTHER_ENVIRONMENT = 'other environment';

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of the key of this request, a refused one too; null until it is known. */
    keyId: number | null;
    /** Whether that key may not add pets. */
    isReadOnly: boolean;
    /** When that key was accepted, by `performance.now`. */
    acceptedAt: number;
  }
}

export interface AuthenticateOptions {
  readonly keys: KeyStore;
  readonly environment: Environment;
  readonly now: () => number;
}

/** The hooks that let a request with an active key pass, and answer every other with the same 401. */
export function createAuthenticate({ keys, environment, now }: AuthenticateOptions) {
  const cache = new Map<string, { readonly key: ApiKey; readonly at: number }>();
  const touchedAt = new Map<number, number>();

  function touch({ id, lastUsedAt = 0 }: ApiKey, request: FastifyRequest): void {
    const at = now();
    // A time of the future is from when the clock was wrong, and is written over.
    const isRecent = (time: number) => time <= at && at - time < TOUCH_MS_MIN;
    if (isRecent(lastUsedAt) || isRecent(touchedAt.get(id) ?? 0)) return;
    touchedAt.set(id, at);
    keys.touch(id, at).catch((err: unknown) => {
      request.server.petstoreLog.warn({ err, keyId: id }, 'time of last use not written');
    });
  }

  function findCached(token: string): ApiKey | undefined {
    const entry = cache.get(token);
    // By a clock that cannot be set back, which would keep a revoked key in use.
    return entry && performance.now() - entry.at < CACHED_KEY_MS_MAX ? entry.key : undefined;
  }

  async function findKey(token: string): Promise<ApiKey | undefined> {
    if (!isApiKeyOf(environment, token)) return undefined;
    const at = performance.now();
    const key = await keys.find(digestApiKey(token));
    if (key?.environment !== environment) return key;
    if (cache.size >= CACHED_KEYS_MAX && !cache.has(token)) cache.clear();
    cache.set(token, { key, at });
    return key;
  }

  /** Why the key is refused; undefined when it is not. */
  function findReason(key: ApiKey): string | undefined {
    if (key.environment !== environment) return OTHER_ENVIRONMENT;
    const state = getKeyState(key, now());
    return state === 'active' ? undefined : state;
  }

  /** Why there is no key for it. */
  function explain(authorization: string | undefined, token: string): string {
    if (authorization === undefined) return 'missing';
    if (isApiKeyOf(environment, token)) return 'unknown';
    return ENVIRONMENTS.some((other) => isApiKeyOf(other, token)) ? OTHER_ENVIRONMENT : 'malformed';
  }

  function authenticate(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const { authorization } = request.headers;
    // Two Authorization fields arrive joined by a comma, which no key has.
    const token = CREDENTIALS.exec(authorization ?? '')?.[1] ?? '';
    const decide = (key: ApiKey | undefined): void => {
      if (key !== undefined) request.keyId = key.id;
      const reason = key === undefined ? explain(authorization, token) : findReason(key);
      if (key !== undefined && reason === undefined) {
        request.isReadOnly = key.isReadOnly === true;
        request.acceptedAt = performance.now();
        touch(key, request);
        done();
        return;
      }
      request.refusal = { code: 'unauthorized', reason };
      reply.header('www-authenticate', CHALLENGE + (token === '' ? '' : ', error="invalid_token"'));
      done(new PetstoreError('unauthorized'));
    };
    // A cached key is decided without a promise, which would cost more than the rest of this hook.
    const cached = findCached(token);
    if (cached !== undefined) decide(cached);
    else findKey(token).then(decide, done);
  }

  /** The hook behind what may take long, the body and the fair queue: a key that was revoked meanwhile is refused. */
  function authenticateAgain(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const isSlow = performance.now() - request.acceptedAt >= CACHED_KEY_MS_MAX;
    if (isSlow) authenticate(request, reply, done);
    else done();
  }

  return { authenticate, authenticateAgain };
}
