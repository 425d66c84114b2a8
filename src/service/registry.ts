/** The registry of the metrics: what counts each request, and the text format of Prometheus. */

import cluster from 'node:cluster';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { SERVED_METHODS } from '../http/protocol/methods.ts';
import type { RequestLine } from '../log.ts';
import { Durations, Tally } from './counts.ts';
import { METRICS, type MetricRow, type Readings, type Sources } from './metrics.ts';
import { answerPrimary } from './worker-metrics.ts';

/** Starts to count in this process. */
export function createMetrics(sources: Sources) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counts = { keyRequests: new Tally(), refusals: new Tally(), durations: new Durations() };
  const readings = { ...sources, ...counts };
  for (const [name, row] of Object.entries(METRICS)) register(registry, name, row, readings);
  if (cluster.isWorker) answerPrimary(registry);
  return {
    count: (line: RequestLine) => countRequest(readings, line),
    read: () => registry.metrics(),
  };
}

function register(registry: Registry, name: string, row: MetricRow, readings: Readings): void {
  const { help, labels: labelNames, aggregator = 'sum', isOfPostgres } = row;
  if (isOfPostgres && readings.store().connections === undefined) return;
  if (row.kind === 'histogram') {
    registry.registerMetric(row.read(readings).toMetric(name, help));
    return;
  }
  const Kind = row.kind === 'counter' ? Counter : Gauge;
  new Kind({
    name,
    help,
    labelNames,
    aggregator,
    registers: [registry],
    async collect() {
      const values = await row.read(readings);
      const counted = typeof values === 'number' ? [{ labels: [], count: values }] : values;
      // No await from here on: two scrapes at the same time would count twice.
      this.reset();
      for (const { labels, count } of counted) this.labels(...labels).inc(count);
    },
  });
}

function countRequest({ durations, keyRequests, refusals }: Readings, line: RequestLine): void {
  const { method = '', route = 'none', status, ms, keyId, refusal } = line;
  // A request that the parser refused has no time.
  if (ms !== undefined) durations.observe(toLabel(method), route, status, ms / 1_000);
  if (keyId !== null) keyRequests.count(String(keyId));
  if (refusal === undefined) return;
  const { code, reason = '' } = refusal;
  const isOfFew = code === 'unauthorized' || code === 'unavailable';
  refusals.count(code, isOfFew ? reason : '');
}

/** Node parses 35 methods. With a series for each, any client could use up all labels. */
function toLabel(method: string): string {
  return SERVED_METHODS.some((served) => served === method) ? method : 'other';
}
