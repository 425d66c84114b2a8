/** Counts requests without prom-client, which reads the counts at a scrape: its own take 2 µs each. */

import { SERVED_METHODS } from '../http/protocol/methods.ts';
import type { RequestLine } from '../log.ts';
import { LIMITS } from './limits.ts';

/** The upper bounds of the buckets. A get takes about 0.0003 s, a create 0.001 to 0.01 s. */
const LATENCY_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** The label of all that is counted above LABELS_MAX: labels must not fill the memory. */
const OTHERS = 'others';

/** A count of these labels. Of a histogram also its part, such as `_sum`, and the bound of a bucket. */
export interface Counted {
  readonly labels: readonly string[];
  readonly part?: string;
  readonly le?: number | '+Inf';
  count: number;
}

/** What is counted of each request. */
export class RequestCounts {
  readonly keyRequests = new Map<string, Counted>();
  readonly refusals = new Map<string, Counted>();
  readonly #durations = new Map<string, ReturnType<typeof createDurations>>();

  readonly count = (line: RequestLine): void => {
    const { method = '', route = 'none', status, ms, keyId, refusal } = line;
    // A request that the parser refused has no time.
    if (ms !== undefined) {
      const labels = [toLabel(method), route, String(status)];
      observe(getOrAdd(this.#durations, labels, createDurations), ms / 1_000);
    }
    if (keyId !== null) getOrAdd(this.keyRequests, [String(keyId)], createCounted).count += 1;
    if (refusal === undefined) return;
    const { code, reason = '' } = refusal;
    const isOfFew = code === 'unauthorized' || code === 'unavailable';
    getOrAdd(this.refusals, [code, isOfFew ? reason : ''], createCounted).count += 1;
  };

  *readDurations(): Generator<Counted> {
    for (const { labels, buckets, sum } of this.#durations.values()) {
      let count = 0;
      for (const [index, inBucket] of buckets.entries()) {
        count += inBucket;
        yield { labels, part: '_bucket', le: LATENCY_SECONDS[index] ?? '+Inf', count };
      }
      yield { labels, part: '_sum', count: sum };
      yield { labels, part: '_count', count };
    }
  }
}

/** Node parses 35 methods. With a series for each, any client could use up all labels. */
function toLabel(method: string): string {
  return SERVED_METHODS.some((served) => served === method) ? method : 'other';
}

/** The value of these labels. If the map is full, new labels share the value of OTHERS. */
function getOrAdd<Value>(
  map: Map<string, Value>,
  labels: readonly string[],
  create: (labels: readonly string[]) => Value,
): Value {
  const found = map.get(labels.join(' '));
  if (found !== undefined) return found;
  const kept = map.size < LIMITS.LABELS_MAX ? labels : labels.map(() => OTHERS);
  const name = kept.join(' ');
  const value = map.get(name) ?? create(kept);
  map.set(name, value);
  return value;
}

const createCounted = (labels: readonly string[]): Counted => ({ labels, count: 0 });

function createDurations(labels: readonly string[]) {
  // Requests up to each of LATENCY_SECONDS, and above the one before; the last bucket has no end.
  const buckets: number[] = new Array(LATENCY_SECONDS.length + 1).fill(0);
  return { labels, buckets, sum: 0 };
}

function observe(durations: ReturnType<typeof createDurations>, seconds: number): void {
  durations.sum += seconds;
  let bucket = 0;
  while (seconds > (LATENCY_SECONDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
  durations.buckets[bucket] = (durations.buckets[bucket] ?? 0) + 1;
}
