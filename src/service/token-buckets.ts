/** Token buckets: each key's bucket fills at a rate, up to a burst, and each request takes a token. */

export interface RateLimit {
  /** The tokens that a bucket gets in a second: a whole number. */
  readonly perSecond: number;
  /** The tokens that a bucket holds at most. */
  readonly burst: number;
}

/** Below this number of buckets none is forgotten. */
const BUCKETS_MIN = 1_000;

/** The buckets of all keys. Times are in milliseconds, by a clock that is never set back. */
export class TokenBuckets {
  readonly #limit: RateLimit;
  readonly #buckets = new Map<number, { tokens: number; at: number }>();
  #forgetAt = BUCKETS_MIN;

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  /** The buckets in memory: up to BUCKETS_MIN, or twice as many as were not full when it was last looked. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Takes up to `count` whole tokens, and tells what is left; a negative count puts tokens back. */
  take(key: number, count: number, now: number): { readonly taken: number; readonly left: number } {
    const { perSecond, burst } = this.#limit;
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      if (this.#buckets.size >= this.#forgetAt) this.#forgetFull(now);
      bucket = { tokens: burst, at: now };
      this.#buckets.set(key, bucket);
    }
    const filled = Math.min(burst, bucket.tokens + ((now - bucket.at) * perSecond) / 1_000);
    const taken = Math.min(count, Math.floor(filled));
    bucket.tokens = Math.min(burst, filled - taken);
    bucket.at = now;
    return { taken, left: bucket.tokens };
  }

  /** A full bucket is as good as none. All are looked at only once their number has doubled. */
  #forgetFull(now: number): void {
    const { perSecond, burst } = this.#limit;
    for (const [key, { tokens, at }] of this.#buckets) {
      if (tokens + ((now - at) * perSecond) / 1_000 >= burst) this.#buckets.delete(key);
    }
    this.#forgetAt = Math.max(BUCKETS_MIN, 2 * this.#buckets.size);
  }
}
