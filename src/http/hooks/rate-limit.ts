/** The rate limit of each key, and its header fields (draft-ietf-httpapi-ratelimit-headers-11). */

import type { HookHandlerDoneFunction as Done, FastifyReply, FastifyRequest } from 'fastify';
import { PetstoreError } from '../../error.ts';
import { RETRY_AFTER_SECONDS } from '../errors.ts';
import { LIMITS } from '../limits.ts';

/** Made once: the stack of a new one would cost more than the rest of a refusal. */
const RATE_LIMITED = new PetstoreError('rate_limited');

/** Counts the requests of each key. */
export interface RateLimiter {
  /** The requests that a key may send in a second. */
  readonly perSecond: number;
  /** The requests that a key may send at once. */
  readonly burst: number;
  /** Counts a request; how many more the key may send now, or -1 when this one is too many. */
  take(keyId: number): number;
}

/** The value of `RateLimit` for a key that may send `left` more requests now. */
export function toRateLimit(left: number): string {
  return `"default";r=${left};t=${RETRY_AFTER_SECONDS}`;
}

/** The hook that answers 429 to the requests of a key above its limit; to be called after its key is accepted. */
export function createRateLimit(limiter: RateLimiter) {
  const policy = `"default";q=${limiter.perSecond};w=1;petstore-burst=${limiter.burst}`;

  return function rateLimit(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const left = limiter.take(request.keyId as number);
    reply.header('ratelimit-policy', policy);
    reply.header('ratelimit', toRateLimit(Math.max(0, left)));
    if (left >= 0) {
      done();
      return;
    }
    reply.header('retry-after', RETRY_AFTER_SECONDS);
    // The status is set now: `connections.ts` may close the connection of a refused request.
    reply.code(429);
    // Without this pause, clients that ignore Retry-After would take the processor.
    setTimeout(() => done(RATE_LIMITED), LIMITS.REFUSE_MS);
  };
}
