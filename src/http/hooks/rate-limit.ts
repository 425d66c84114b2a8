/** The rate limit of each key, and its header fields (draft-ietf-httpapi-ratelimit-headers-11). */

import type { onRequestHookHandler } from 'fastify';
import { PetstoreError, RETRY_AFTER_SECONDS } from '../../error.ts';
import { HTTP_LIMITS } from '../limits.ts';

/** Made once: the stack of a new one would cost more than the rest of a refusal. */
const RATE_LIMITED = new PetstoreError('rate_limited');

/** A token bucket for each key, in each process. It fills at the rate, up to the burst; each request takes a token. */
export class TokenBuckets {
  readonly perSecond: number;
  readonly burst: number;
  readonly #now: () => number;
  /** By the id of the key. Clients cannot make keys. */
  readonly #buckets = new Map<number, { readonly tokens: number; readonly at: number }>();

  /** @param now the time in milliseconds, by a clock that never goes back. */
  constructor(perSecond: number, burst = perSecond, now = () => performance.now()) {
    this.perSecond = perSecond;
    this.burst = burst;
    this.#now = now;
  }

  /** Counts a request; how many more the key may send now, or -1 when this one is too many. */
  take(keyId: number): number {
    const now = this.#now();
    const { tokens, at } = this.#buckets.get(keyId) ?? { tokens: this.burst, at: now };
    const filled = Math.min(this.burst, tokens + ((now - at) * this.perSecond) / 1_000);
    if (filled < 1) return -1;
    this.#buckets.set(keyId, { tokens: filled - 1, at: now });
    return Math.floor(filled - 1);
  }
}

export function createRateLimit(limiter: TokenBuckets): onRequestHookHandler {
  const policy = `"default";q=${limiter.perSecond};w=1;petstore-burst=${limiter.burst}`;

  return function limitRate(request, reply, done) {
    const left = limiter.take(request.keyId as number);
    reply.header('ratelimit-policy', policy);
    reply.header('ratelimit', `"default";r=${Math.max(0, left)};t=${RETRY_AFTER_SECONDS}`);
    if (left >= 0) return done();
    // The status is set now: `connections.ts` may close the connection of a refused request.
    reply.code(429);
    // Without this pause, clients that ignore Retry-After would take the processor.
    setTimeout(() => done(RATE_LIMITED), HTTP_LIMITS.REFUSE_MS.value);
  };
}
