/** The registry of the metrics: what counts each request, and the text for Prometheus, also of several workers. */

import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';
import { PetstoreError } from '../error.ts';
import { SERVED_METHODS } from '../http/protocol/methods.ts';
import type { RequestLine } from '../log.ts';
import { Durations, Tally } from './counts.ts';
import { LIMITS } from './limits.ts';
import { METRICS, type MetricRow, type Readings, type Sources } from './metrics.ts';

/** Starts to count in this process. A worker sends its metrics whenever the primary asks. */
export function createMetrics(sources: Sources) {
  const ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  const counts = { keyRequests: new Tally(), refusals: new Tally(), durations: new Durations() };
  const readings = { ...sources, ...counts };
  const isOnPostgres = sources.store().connections !== undefined;
  const rows = Object.entries(METRICS).filter(([, row]) => isOnPostgres || !row.isOfPostgres);
  const collectAll = () => Promise.all(rows.map(([name, row]) => collect(name, row, readings)));
  if (cluster.isWorker) {
    process.on('message', async () => {
      process.send?.([...(await ofProcess.getMetricsAsJSON()), ...(await collectAll())]);
    });
  }
  return {
    count: (line: RequestLine) => countRequest(readings, line),
    async read() {
      const own = AggregatorRegistry.aggregate([await collectAll()]);
      return `${await ofProcess.metrics()}\n${await own.metrics()}`;
    },
  };
}

/** A metric as `getMetricsAsJSON` of prom-client has it. The metrics of prom-client would count by themselves, and take longer. */
async function collect(name: string, row: MetricRow, readings: Readings) {
  const { kind: type, help, labels: names, aggregator = 'sum', read } = row;
  const found = await read(readings);
  const counted = typeof found === 'number' ? [{ labels: [], count: found }] : [...found];
  const values = counted.map(({ labels, part = '', le, count }) => ({
    metricName: name + part,
    labels: {
      ...(le !== undefined && { le }),
      ...Object.fromEntries(labels.map((label, index) => [names[index], label])),
    },
    value: count,
  }));
  return { name, help, type, aggregator, values };
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

/**
 * In the primary: the metrics of the workers that answer in time.
 *
 * @throws PetstoreError `unavailable` if no worker answers.
 */
export async function readWorkers(): Promise<string> {
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  const connected = workers.filter((worker) => worker.isConnected());
  const answers = await Promise.allSettled(connected.map(ask));
  const inTime = answers.filter((answer) => answer.status === 'fulfilled');
  if (inTime.length === 0) {
    throw new PetstoreError('unavailable', 'no worker gave its metrics in time');
  }
  return AggregatorRegistry.aggregate(inTime.map(({ value }) => value)).metrics();
}

/** Resolves to the next answer, which may be a late answer to an earlier scrape. */
async function ask(worker: Worker): Promise<object> {
  const { promise, resolve, reject } = Promise.withResolvers<object>();
  const timer = setTimeout(reject, LIMITS.WORKER_ANSWER_MS_MAX);
  // The connections to the admin port bound the scrapes that listen.
  worker.setMaxListeners(0);
  worker.once('message', resolve).once('disconnect', reject);
  worker.send('metrics');
  return promise.finally(() => {
    clearTimeout(timer);
    worker.off('message', resolve).off('disconnect', reject);
  });
}
