/** Who may ask: the bearer key of a request against the keys of the store (RFC 6750, interface "Authentication"). */

import type { HookHandlerDoneFunction as Done, FastifyReply, FastifyRequest } from 'fastify';
import { digestApiKey, type Environment, isApiKeyOf } from '../../api-key.ts';
import type { ApiKey, KeyStore } from '../../store.ts';
import { refuse } from '../refusals.ts';

/** A key's time of last use is written at most this often. */
const TOUCH_MS_MIN = 60_000;

/** A key that was found is taken as found for so long: well under the second of a revocation. */
const KNOWN_MS_MAX = 500;
const KNOWN_KEYS_MAX = 1_000;

const CREDENTIALS = /^bearer +(.*)$/i;
const CHALLENGE = 'Bearer realm="petstore"';

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of the key that opened this request; null before it did. */
    keyId: number | null;
  }
}

export interface AuthenticateOptions {
  readonly keys: KeyStore;
  readonly environment: Environment;
  readonly now: () => number;
}

/** The hook that lets only requests with a good key pass, and answers all others with the same 401. */
export function createAuthenticate({ keys, environment, now }: AuthenticateOptions) {
  const known = new Map<string, { readonly key: ApiKey; readonly at: number }>();
  const touchedAt = new Map<number, number>();

  function touch({ id, lastUsedAt = 0 }: ApiKey, request: FastifyRequest): void {
    if (now() - Math.max(lastUsedAt, touchedAt.get(id) ?? 0) < TOUCH_MS_MIN) return;
    touchedAt.set(id, now());
    keys.touch(id, now()).catch((err: unknown) => {
      request.server.petstoreLog.warn({ err, keyId: id }, 'time of last use not written');
    });
  }

  function findKnown(token: string): ApiKey | undefined {
    const earlier = known.get(token);
    // Not by `now`: a clock that is set back must not keep a revoked key alive.
    if (earlier !== undefined && performance.now() - earlier.at < KNOWN_MS_MAX) return earlier.key;
    known.delete(token);
    return undefined;
  }

  async function findKey(token: string): Promise<ApiKey | undefined> {
    if (!isApiKeyOf(environment, token)) return undefined;
    const at = performance.now();
    const key = await keys.find(digestApiKey(token));
    if (key?.environment !== environment || key.revokedAt !== undefined) return undefined;
    if (known.size >= KNOWN_KEYS_MAX) known.clear();
    known.set(token, { key, at });
    return key;
  }

  return function authenticate(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    // Two Authorization fields arrive joined by a comma, and are no key.
    const token = CREDENTIALS.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const judge = (key: ApiKey | undefined): void => {
      if (key !== undefined && (key.expiresAt ?? Number.POSITIVE_INFINITY) > now()) {
        request.keyId = key.id;
        touch(key, request);
        done();
        return;
      }
      reply.header('www-authenticate', CHALLENGE + (token === '' ? '' : ', error="invalid_token"'));
      done(refuse('unauthorized'));
    };
    // Not waiting where nothing is waited for: a promise costs more than all of this.
    const found = findKnown(token);
    if (found !== undefined) judge(found);
    else findKey(token).then(judge, done);
  };
}
