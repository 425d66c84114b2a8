/** The rate limit of each key, which this process counts for itself, also when it is one of several workers. */

import type { RateLimiter } from '../http/hooks/rate-limit.ts';
import { LIMITS } from './limits.ts';
import type { ServeOptions } from './serve-options.ts';

/** A token bucket for each key: it fills at the rate, up to the burst, and each request takes a token. */
export class TokenBuckets implements RateLimiter {
  readonly perSecond: number;
  readonly burst: number;
  readonly #now: () => number;
  readonly #buckets = new Map<number, { tokens: number; at: number }>();
  #forgetAt = LIMITS.BUCKETS_MIN;

  /** @param now the time in milliseconds, by a clock that is never set back. */
  constructor(perSecond: number, burst: number, now: () => number) {
    this.perSecond = perSecond;
    this.burst = burst;
    this.#now = now;
  }

  get size(): number {
    return this.#buckets.size;
  }

  take(keyId: number): number {
    const now = this.#now();
    let bucket = this.#buckets.get(keyId);
    if (bucket === undefined) {
      if (this.#buckets.size >= this.#forgetAt) this.#forgetFull(now);
      bucket = { tokens: this.burst, at: now };
      this.#buckets.set(keyId, bucket);
    }
    const filled = bucket.tokens + ((now - bucket.at) * this.perSecond) / 1_000;
    bucket.tokens = Math.min(this.burst, filled);
    bucket.at = now;
    if (bucket.tokens < 1) return -1;
    bucket.tokens -= 1;
    return Math.floor(bucket.tokens);
  }

  /** A full bucket is the same as a new one. The next search is when their number has doubled. */
  #forgetFull(now: number): void {
    for (const [keyId, { tokens, at }] of this.#buckets) {
      if (tokens + ((now - at) * this.perSecond) / 1_000 >= this.burst) this.#buckets.delete(keyId);
    }
    this.#forgetAt = Math.max(LIMITS.BUCKETS_MIN, 2 * this.#buckets.size);
  }
}

/** Undefined when requests are not limited. */
export function createRateLimiter(
  { rateLimit, rateLimitBurst = rateLimit }: Pick<ServeOptions, 'rateLimit' | 'rateLimitBurst'>,
  now = () => performance.now(),
): RateLimiter | undefined {
  if (rateLimit === undefined || rateLimitBurst === undefined) return undefined;
  return new TokenBuckets(rateLimit, rateLimitBurst, now);
}
