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

type Metrics = readonly { readonly type: string }[];

/** The last counts of each worker, and those of all that have ended. If a sum fell, Prometheus would count it anew. */
const lastCounts = new Map<number, Metrics>();
let endedCounts: readonly object[] = [];

/** The counts of all workers, and the gauges of those that answer in time. @throws PetstoreError `unavailable` if none does. */
export async function readWorkers(): Promise<string> {
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  const connected = workers.filter((worker) => worker.isConnected());
  const answers = await Promise.allSettled(connected.map(ask));
  const inTime = answers.filter((answer) => answer.status === 'fulfilled');
  if (inTime.length === 0) throw unavailable('no worker gave its metrics in time');
  addEndedWorkers();
  const gauges = inTime.map(({ value }) => value);
  return AggregatorRegistry.aggregate([...gauges, endedCounts, ...lastCounts.values()]).metrics();
}

function addEndedWorkers(): void {
  for (const [id, counts] of lastCounts) {
    if (cluster.workers?.[id] !== undefined) continue;
    lastCounts.delete(id);
    endedCounts = AggregatorRegistry.aggregate([endedCounts, counts]).getMetricsAsArray();
  }
}

/** Resolves to the gauges of the next answer, which may be a late answer to an earlier scrape. Keeps its counts. */
async function ask(worker: Worker): Promise<Metrics> {
  const { promise, resolve, reject } = Promise.withResolvers<Metrics>();
  const keep = (metrics: Metrics) => {
    lastCounts.set(
      worker.id,
      metrics.filter(({ type }) => type !== 'gauge'),
    );
    resolve(metrics.filter(({ type }) => type === 'gauge'));
  };
  const timer = setTimeout(reject, WORKER_ANSWER_MS_MAX);
  // The connections to the admin port bound the scrapes that listen.
  worker.setMaxListeners(0);
  worker.once('message', keep).once('disconnect', reject);
  worker.send('metrics');
  return promise.finally(() => {
    clearTimeout(timer);
    worker.off('message', keep).off('disconnect', reject);
  });
}
