/** Token buckets: how many requests each key may still send. */

/**
 * A token bucket for each key. It fills at the rate, up to the burst; each request takes a token.
 * Each process counts for itself, each of several workers too.
 */
export class TokenBuckets {
  readonly perSecond: number;
  readonly burst: number;
  readonly #now: () => number;
  /** By the id of the key. A client cannot make keys, so it cannot make this larger. */
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
