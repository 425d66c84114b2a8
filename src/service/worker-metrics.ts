/** The metrics of several workers: at a scrape the primary asks each, and combines the answers. */

import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { PetstoreError } from '../error.ts';
import { LIMITS } from './limits.ts';

/** In a worker: sends its metrics whenever the primary asks. */
export function answerPrimary(registry: Registry): void {
  process.on('message', async () => process.send?.(await registry.getMetricsAsJSON()));
}

/** In the primary: the metrics of the workers that answer in time. */
export function createWorkerMetrics(): () => Promise<string> {
  // Scrapes at the same time share a reading: messages to a frozen worker would pile up.
  let reading: Promise<string> | undefined;
  return () => {
    reading ??= readWorkers().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

/** @throws PetstoreError `unavailable` if no worker answers. */
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

/** Resolves to the next answer, which may be a late answer to an earlier scrape. */
async function ask(worker: Worker): Promise<object> {
  const { promise, resolve, reject } = Promise.withResolvers<object>();
  const timer = setTimeout(reject, LIMITS.WORKER_ANSWER_MS_MAX);
  worker.once('message', resolve).once('disconnect', reject);
  worker.send('metrics');
  return promise.finally(() => {
    clearTimeout(timer);
    worker.off('message', resolve).off('disconnect', reject);
  });
}
