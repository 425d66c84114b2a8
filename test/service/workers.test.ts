/** Real worker processes that freeze, or end while the primary waits for them. */

import assert from 'node:assert/strict';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLog } from '../../src/service/open-log.ts';
import { createWorkerMetrics } from '../../src/service/worker-metrics.ts';
import { Workers } from '../../src/service/workers.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const WORKER = join(createProcessFolder(), 'worker.mjs');
writeFileSync(WORKER, "process.on('message', () => process.exit());");
cluster.setupPrimary({ exec: WORKER, execArgv: [] });

/** A worker that ends when it is asked. From now on no timer runs by itself. */
async function startWorker(t: TestContext) {
  const worker = cluster.fork();
  t.after(() => worker.process.kill('SIGKILL'));
  await once(worker, 'online');
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return worker;
}

test('workers › one ends while it is asked for its metrics › holds no scrape up', async (t) => {
  await startWorker(t);
  const message = 'no worker gave its metrics in time';
  await assert.rejects(createWorkerMetrics()(), { code: 'unavailable', message });
});

test('workers › one is frozen when all stop › is killed after 13 s', async (t) => {
  const worker = await startWorker(t);
  worker.process.kill('SIGSTOP');
  const stopped = new Workers(createLog('silent', () => undefined)).stop();
  t.mock.timers.tick(13_000);
  await stopped;
  assert.equal(worker.process.signalCode, 'SIGKILL');
});
