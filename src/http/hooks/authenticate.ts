/** The API key of a request against the keys of the store (RFC 6750, interface "Authentication"). */

import type { onRequestHookHandler } from 'fastify';
import {
  type ApiKey,
  ENVIRONMENTS,
  type Environment,
  getKeyState,
  isApiKeyOf,
} from '../../api-key.ts';
import { PetstoreError } from '../../error.ts';
import type { Log } from '../../log.ts';
import type { KeyStore } from '../../store.ts';
import { CACHED_KEY_MS_MAX, createFindKey, createTouch } from '../key-cache.ts';

/** The token is the rest of the text. With a `$` behind it, a long text could be searched again for each space. */
const CREDENTIALS = /^bearer +([^ ].*)/is;

/** The state of the key, or why the token has no key of this environment. */
function judge(key: ApiKey | undefined, token: string, environment: Environment, now: number) {
  if (key?.environment === environment) return getKeyState(key, now);
  if (key === undefined && isApiKeyOf(environment, token)) return 'unknown';
  const isKey = ENVIRONMENTS.some((each) => isApiKeyOf(each, token));
  return isKey ? 'other environment' : 'malformed';
}

/**
 * The hook that lets a request with an active key pass, and answers every other with the same 401. To be called again
 * after the body and the fair queue, which may take long: a key that was revoked meanwhile is then refused.
 */
export function createAuthenticate(
  keys: KeyStore,
  environment: Environment,
  now: () => number,
  log: Log,
): onRequestHookHandler {
  const findKey = createFindKey(keys, environment);
  const touch = createTouch(keys, log);

  return (request, reply, done) => {
    const at = performance.now();
    if (at - request.acceptedAt < CACHED_KEY_MS_MAX) {
      done();
      return;
    }
    const { authorization } = request.headers;
    // Two Authorization fields arrive joined by a comma, which no key has.
    const token = CREDENTIALS.exec(authorization ?? '')?.[1] ?? '';
    const decide = (key: ApiKey | undefined): void => {
      request.keyId = key?.id ?? null;
      const time = now();
      const state = judge(key, token, environment, time);
      if (key !== undefined && state === 'active') {
        request.isReadOnly = key.isReadOnly === true;
        request.acceptedAt = performance.now();
        touch(key, time);
        done();
        return;
      }
      const reason = authorization === undefined ? 'missing' : state;
      request.refusal = { code: 'unauthorized', reason };
      // If no credential was sent, the challenge names no error (RFC 6750 section 3.1).
      if (token === '') reply.header('www-authenticate', 'Bearer realm="petstore"');
      done(new PetstoreError('unauthorized'));
    };
    const found = findKey(token, at);
    if (found instanceof Promise) found.then(decide, done);
    else decide(found);
  };
}
