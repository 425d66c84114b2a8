/** The metrics of several workers: at a scrape the primary asks each worker, and aggregates the answers. */

import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { PetstoreError } from '../error.ts';
import { LIMITS } from './limits.ts';

/** In a worker: sends its metrics each time that the primary asks. */
export function answerPrimary(registry: Registry): void {
  process.on('message', async () => process.send?.(await registry.getMetricsAsJSON()));
}

/** In the primary: reads the metrics of the workers that answer in time. */
export function createWorkerMetrics(): () => Promise<string> {
  // Scrapes at the same time share a reading, so that a frozen worker collects few messages.
  let reading: Promise<string> | undefined;
  return () => {
    reading ??= readWorkers().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

/** @throws PetstoreError `unavailable` when no worker answers. */
async function readWorkers(): Promise<string> {
  const workers = Object.values(cluster.workers ?? {})
    .filter((worker) => worker !== undefined)
    .filter((worker) => worker.isConnected());
  const answers = await Promise.allSettled(workers.map(ask));
  const metrics = answers
    .filter((answer) => answer.status === 'fulfilled')
    .map(({ value }) => value);
  if (metrics.length === 0) {
    throw new PetstoreError('unavailable', 'no worker gave its metrics in time');
  }
  return AggregatorRegistry.aggregate(metrics).metrics();
}

/** The answer may be to an earlier scrape, for which it came too late. */
async function ask(worker: Worker): Promise<object> {
  const signal = AbortSignal.timeout(LIMITS.WORKER_ANSWER_MS_MAX);
  const answer = once(worker, 'message', { signal });
  worker.send('metrics');
  const [metrics] = await answer;
  return metrics;
}
