/** The rate limit of each key. Each process counts for itself, each of several workers too. */

import type { RateLimiter } from '../http/hooks/rate-limit.ts';
import { LIMITS } from './limits.ts';
import type { ServeOptions } from './serve-options.ts';

interface Bucket {
  tokens: number;
  at: number;
}

/** A token bucket for each key. It fills at the rate, up to the burst; each request takes a token. */
export class TokenBuckets implements RateLimiter {
  readonly perSecond: number;
  readonly burst: number;
  readonly #now: () => number;
  readonly #buckets = new Map<number, Bucket>();
  #forgetAt = LIMITS.BUCKETS_MIN;

  /** @param now the time in milliseconds, by a clock that never goes back. */
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
    bucket.tokens = this.#countTokens(bucket, now);
    bucket.at = now;
    if (bucket.tokens < 1) return -1;
    bucket.tokens -= 1;
    return Math.floor(bucket.tokens);
  }

  /** A full bucket is like a new one. The next search comes when there are twice as many buckets. */
  #forgetFull(now: number): void {
    for (const [keyId, bucket] of this.#buckets) {
      if (this.#countTokens(bucket, now) === this.burst) this.#buckets.delete(keyId);
    }
    this.#forgetAt = Math.max(LIMITS.BUCKETS_MIN, 2 * this.#buckets.size);
  }

  #countTokens({ tokens, at }: Bucket, now: number): number {
    return Math.min(this.burst, tokens + ((now - at) * this.perSecond) / 1_000);
  }
}

/** Undefined if requests are not limited. */
export function createRateLimiter(
  { rateLimit, rateLimitBurst = rateLimit }: Pick<ServeOptions, 'rateLimit' | 'rateLimitBurst'>,
  now = () => performance.now(),
): RateLimiter | undefined {
  if (rateLimit === undefined || rateLimitBurst === undefined) return undefined;
  return new TokenBuckets(rateLimit, rateLimitBurst, now);
}
