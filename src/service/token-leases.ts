/** The rate limit over all workers: the primary has the buckets, and workers lease tokens, so that few requests need a message. */

import cluster from 'node:cluster';
import type { RateLimiter } from '../http/hooks/rate-limit.ts';
import { type RateLimit, TokenBuckets } from './token-buckets.ts';

/** A lease is what a bucket gets in this time; what is not used of it then goes back. */
const LEASE_MS = 20;

/** When the primary is silent for this time, a worker counts by itself until there is an answer. */
const SILENCE_MS_MAX = 1_000;

/** Tokens that a worker wants of each key, or, below zero, puts back. */
type Counts = readonly (readonly [keyId: number, count: number])[];

interface Grant {
  readonly keyId: number;
  readonly taken: number;
  /** The tokens that the bucket still holds. */
  readonly left: number;
}

/** The answer to what is wanted; there is none to what is put back. */
function grant(buckets: TokenBuckets, counts: Counts): readonly Grant[] {
  const now = performance.now();
  return counts
    .map(([keyId, count]) => ({ keyId, ...buckets.take(keyId, count, now) }))
    .filter(({ taken }) => taken >= 0);
}

/** Lets workers lease tokens of this process, the primary. */
export function lendTokens(limit: RateLimit): void {
  const buckets = new TokenBuckets(limit);
  cluster.on('message', (worker, { wanted }: { readonly wanted?: Counts }) => {
    if (wanted === undefined) return;
    // Without a callback, an answer to a worker that has just ended would end this process too.
    worker.send({ granted: grant(buckets, wanted) }, () => undefined);
  });
}

/** What a worker knows of a key. */
interface Lease {
  /** Tokens that requests may take, and those that the bucket had left. */
  tokens: number;
  left: number;
  refusedUntil: number;
  askedAt: number;
  /** The requests that wait for an answer. */
  readonly waiting: ((left: number) => void)[];
}

/** The limiter of a worker. */
export class LeasingRateLimiter implements RateLimiter {
  readonly perSecond: number;
  readonly burst: number;
  readonly #batch: number;
  readonly #share: TokenBuckets;
  readonly #leases = new Map<number, Lease>();
  readonly #asking = new Set<number>();
  #isAlone = false;

  constructor({ perSecond, burst }: RateLimit, workers: number) {
    this.perSecond = perSecond;
    this.burst = burst;
    // A request of another worker may be refused for want of what is leased and not used: at most a
    // tenth of the burst.
    const unusedMax = Math.floor(burst / (10 * workers));
    this.#batch = Math.max(1, Math.min(unusedMax, Math.ceil((perSecond * LEASE_MS) / 1_000)));
    const share = { perSecond: perSecond / workers, burst: Math.max(1, burst / workers) };
    this.#share = new TokenBuckets(share);
    process.on('message', ({ granted }: { readonly granted?: readonly Grant[] }) => {
      if (granted === undefined) return;
      this.#isAlone = false;
      this.#receive(granted);
    });
  }

  take(keyId: number): number | Promise<number> {
    const lease = this.#getLease(keyId);
    if (lease.tokens > 0) {
      lease.tokens -= 1;
      return lease.tokens + lease.left;
    }
    if (performance.now() < lease.refusedUntil) return -1;
    return new Promise((resolve) => {
      lease.waiting.push(resolve);
      if (lease.waiting.length === 1) this.#ask(keyId);
    });
  }

  #getLease(keyId: number): Lease {
    let lease = this.#leases.get(keyId);
    if (lease === undefined) {
      if (this.#leases.size === 0) setTimeout(() => this.#endLeases(), LEASE_MS);
      lease = { tokens: 0, left: 0, refusedUntil: 0, askedAt: 0, waiting: [] };
      this.#leases.set(keyId, lease);
    }
    return lease;
  }

  /** Asks for a token for each request of this turn that waits, and for the rest of a lease. */
  #ask(keyId: number): void {
    this.#asking.add(keyId);
    this.#getLease(keyId).askedAt = performance.now();
    if (this.#asking.size > 1) return;
    setImmediate(() => {
      const keyIds = [...this.#asking];
      this.#asking.clear();
      this.#send(keyIds.map((id) => [id, this.#getLease(id).waiting.length + this.#batch - 1]));
    });
  }

  #send(wanted: Counts): void {
    if (this.#isAlone) this.#receive(grant(this.#share, wanted));
    else cluster.worker?.send({ wanted }, () => undefined);
  }

  #receive(granted: readonly Grant[]): void {
    for (const { keyId, taken, left } of granted) {
      const lease = this.#getLease(keyId);
      lease.tokens += taken;
      lease.left = Math.floor(left);
      for (const resolve of lease.waiting.splice(0, lease.tokens)) {
        lease.tokens -= 1;
        resolve(lease.tokens + lease.left);
      }
      if (taken === 0) {
        for (const resolve of lease.waiting.splice(0)) resolve(-1);
        // Asks again once there is a whole lease.
        const ms = ((this.#batch - left) * 1_000) / this.perSecond;
        lease.refusedUntil = performance.now() + ms;
      } else if (lease.waiting.length > 0) this.#ask(keyId);
    }
  }

  /** Puts back what was not used, and forgets the keys of which nothing is to be known. */
  #endLeases(): void {
    const now = performance.now();
    const unused: [number, number][] = [];
    for (const [keyId, lease] of this.#leases) {
      if (lease.tokens > 0) unused.push([keyId, -lease.tokens]);
      lease.tokens = 0;
      if (lease.waiting.length === 0) {
        if (lease.refusedUntil < now) this.#leases.delete(keyId);
      } else if (now - lease.askedAt > SILENCE_MS_MAX) {
        this.#isAlone = true;
        this.#ask(keyId);
      }
    }
    if (unused.length > 0) this.#send(unused);
    if (this.#leases.size > 0) setTimeout(() => this.#endLeases(), LEASE_MS);
  }
}
