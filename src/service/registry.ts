/** The text of the metrics for Prometheus, also of several workers. */

import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';
import { unavailable } from '../error.ts';
import { METRICS, type MetricRow, type Sources } from './metrics.ts';

/** The time of a worker to give its metrics: it answers after its check for `petstore_ready`, of 2 s. */
const WORKER_ANSWER_MS_MAX = 4_000;

const START_TIME = 'process_start_time_seconds';

/** Reads the metrics of this process. A worker also sends them whenever the primary asks. */
export function createMetricsReader(sources: Sources): () => Promise<string> {
  const ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  // Of workers, prom-client would leave it out: the newest start tells that one was replaced.
  Object.assign(ofProcess.getSingleMetric(START_TIME) ?? {}, { aggregator: 'max' });
  const collectAll = () =>
    Promise.all(Object.entries(METRICS).map(([name, row]) => collect(name, row, sources)));
  if (cluster.isWorker) {
    process.on('message', async () => {
      process.send?.([...(await ofProcess.getMetricsAsJSON()), ...(await collectAll())]);
    });
  }
  return async () => {
    const own = AggregatorRegistry.aggregate([await collectAll()]);
    return `${await ofProcess.metrics()}\n${await own.metrics()}`;
  };
}

/** A metric as `getMetricsAsJSON` of prom-client has it. The metrics of prom-client would take longer to count. */
async function collect(name: string, row: MetricRow, sources: Sources) {
  const { kind: type, help, labels: names, aggregator = 'sum', read } = row;
  const found = await read(sources);
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

interface Metric {
  readonly name: string;
  readonly type: string;
  readonly values: readonly { readonly value: number }[];
}

/** Whether a value never falls. The start time is that of the newest worker. */
const isKept = ({ name, type }: Metric) => type !== 'gauge' || name === START_TIME;

/** Rounded to a part of a second that adds up exactly in any order: a sum may not fall by its rounding. */
const toExact = (metric: Metric) => ({
  ...metric,
  values: metric.values.map((each) => ({
    ...each,
    value: Math.round(each.value * 2 ** 20) / 2 ** 20,
  })),
});

/**
 * Creates what reads the counts of all workers, and the gauges of those that answer in time. It keeps the last counts of
 * each worker, and the sum of those that have ended: if a sum fell, Prometheus would count it anew. A read throws a
 * PetstoreError `unavailable` if no worker answers in time.
 */
export function createWorkersReader(): () => Promise<string> {
  const lastCounts = new Map<number, readonly object[]>();
  let endedCounts: readonly object[] = [];

  function keep(worker: Worker, metrics: readonly Metric[]): void {
    lastCounts.set(worker.id, metrics.filter(isKept).map(toExact));
  }

  function addEndedWorkers(): void {
    for (const [id, counts] of lastCounts) {
      if (cluster.workers?.[id] !== undefined) continue;
      lastCounts.delete(id);
      endedCounts = AggregatorRegistry.aggregate([endedCounts, counts]).getMetricsAsArray();
    }
  }

  return async () => {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const connected = workers.filter((worker) => worker.isConnected());
    const answers = await Promise.allSettled(connected.map((worker) => ask(worker, keep)));
    const inTime = answers.filter((answer) => answer.status === 'fulfilled');
    if (inTime.length === 0) throw unavailable('no worker gave its metrics in time');
    addEndedWorkers();
    const gauges = inTime.map(({ value }) => value.filter((metric) => !isKept(metric)));
    return AggregatorRegistry.aggregate([...gauges, endedCounts, ...lastCounts.values()]).metrics();
  };
}

/** Resolves to the next answer, which may be a late answer to an earlier scrape. `keep` gets it while the worker lives. */
async function ask(
  worker: Worker,
  keep: (worker: Worker, metrics: readonly Metric[]) => void,
): Promise<readonly Metric[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Metric[]>();
  const answer = (metrics: readonly Metric[]) => {
    keep(worker, metrics);
    resolve(metrics);
  };
  const timer = setTimeout(reject, WORKER_ANSWER_MS_MAX);
  // The connections to the admin port bound the scrapes that listen.
  worker.setMaxListeners(0);
  worker.once('message', answer).once('disconnect', reject);
  worker.send('metrics');
  return promise.finally(() => {
    clearTimeout(timer);
    worker.off('message', answer).off('disconnect', reject);
  });
}
