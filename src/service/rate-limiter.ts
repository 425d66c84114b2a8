/** The rate limit of each key, counted in this process or, in a worker, by tokens that it leases. */

import cluster from 'node:cluster';
import type { RateLimiter } from '../http/hooks/rate-limit.ts';
import type { ServeOptions } from './service.ts';
import { type RateLimit, TokenBuckets } from './token-buckets.ts';
import { LeasingRateLimiter } from './token-leases.ts';

type LimitOptions = Pick<ServeOptions, 'rateLimit' | 'rateLimitBurst' | 'workers'>;

/** The limit that the options ask for; undefined when requests are not limited. */
export function findRateLimit({
  rateLimit,
  rateLimitBurst = rateLimit,
}: LimitOptions): RateLimit | undefined {
  if (rateLimit === undefined || rateLimitBurst === undefined) return undefined;
  return { perSecond: rateLimit, burst: rateLimitBurst };
}

/**
 * The limiter of this process; undefined when requests are not limited.
 *
 * @param now the time in milliseconds, by a clock that is never set back.
 */
export function createRateLimiter(
  options: LimitOptions,
  now = () => performance.now(),
): RateLimiter | undefined {
  const limit = findRateLimit(options);
  if (limit === undefined) return undefined;
  if (cluster.isWorker) return new LeasingRateLimiter(limit, options.workers);
  const buckets = new TokenBuckets(limit);
  return {
    ...limit,
    take(keyId) {
      const { taken, left } = buckets.take(keyId, 1, now());
      return taken === 0 ? -1 : Math.floor(left);
    },
  };
}
