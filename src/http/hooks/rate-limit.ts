/** The rate limit of each key, and its header fields (draft-ietf-httpapi-ratelimit-headers-11). */

import type { onRequestHookHandler } from 'fastify';
import { PetstoreError, RETRY_AFTER_SECONDS } from '../../error.ts';
import { HTTP_LIMITS } from '../limits.ts';
import type { TokenBuckets } from '../token-buckets.ts';

/** Made once: the stack of a new one would cost more than the rest of a refusal. */
const RATE_LIMITED = new PetstoreError('rate_limited');

/** The hook that answers 429 to the requests of a key above its limit; to be called after its key is accepted. */
export function createRateLimit(limiter: TokenBuckets): onRequestHookHandler {
  const policy = `"default";q=${limiter.perSecond};w=1;petstore-burst=${limiter.burst}`;

  return (request, reply, done) => {
    const left = limiter.take(request.keyId as number);
    reply.header('ratelimit-policy', policy);
    reply.header('ratelimit', `"default";r=${Math.max(0, left)};t=${RETRY_AFTER_SECONDS}`);
    if (left >= 0) {
      done();
      return;
    }
    // The status is set now: `connections.ts` may close the connection of a refused request.
    reply.code(429);
    // Without this pause, clients that ignore Retry-After would take the processor.
    setTimeout(() => done(RATE_LIMITED), HTTP_LIMITS.REFUSE_MS.value);
  };
}
