/** Counts requests without prom-client, which reads the counts at a scrape: its own take 2 µs each. */

import { SERVED_METHODS } from '../http/protocol/request-line.ts';
import type { RequestLine } from '../log.ts';
import { SERVICE_LIMITS } from './limits.ts';

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

export class RequestCounts {
  readonly keyRequests = new Map<string, Counted>();
  readonly refusals = new Map<string, Counted>();
  readonly durations = new Map<string, Counted[]>();

  readonly count = (line: RequestLine): void => {
    const { method = '', route = 'none', status, ms, keyId, refusal } = line;
    // A request that the parser refused has no time.
    if (ms !== undefined) {
      // Node parses 35 methods. With a series for each, any client could use up all labels.
      const isServed = SERVED_METHODS.some((served) => served === method);
      const labels = [isServed ? method : 'other', route, String(status)];
      observe(getOrAdd(this.durations, labels, createDurations), ms / 1_000);
    }
    if (keyId !== null) getOrAdd(this.keyRequests, [String(keyId)], createCounted).count += 1;
    if (refusal === undefined) return;
    const { code, reason = '' } = refusal;
    const isOfFew = code === 'unauthorized' || code === 'unavailable';
    getOrAdd(this.refusals, [code, isOfFew ? reason : ''], createCounted).count += 1;
  };
}

/** The value of these labels. If the map is full, new labels share the value of OTHERS. */
function getOrAdd<Value>(
  map: Map<string, Value>,
  labels: readonly string[],
  create: (labels: readonly string[]) => Value,
): Value {
  const found = map.get(labels.join(' '));
  if (found !== undefined) return found;
  const kept = map.size < SERVICE_LIMITS.LABELS_MAX.value ? labels : labels.map(() => OTHERS);
  const name = kept.join(' ');
  const value = map.get(name) ?? create(kept);
  map.set(name, value);
  return value;
}

const createCounted = (labels: readonly string[]): Counted => ({ labels, count: 0 });

/** The series of a histogram. Each bucket also counts what the buckets before it count. */
function createDurations(labels: readonly string[]): Counted[] {
  const bounds = [...LATENCY_SECONDS, '+Inf'] as const;
  const buckets = bounds.map((le) => ({ labels, part: '_bucket', le, count: 0 }));
  return [...buckets, { labels, part: '_sum', count: 0 }, { labels, part: '_count', count: 0 }];
}

function observe(series: readonly Counted[], seconds: number): void {
  for (const counted of series) {
    if (counted.part === '_sum') counted.count += seconds;
    else if (typeof counted.le !== 'number' || seconds <= counted.le) counted.count += 1;
  }
}
