/** Real worker processes that differ, freeze, or end while the primary waits for them. */

import assert from 'node:assert/strict';
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLog } from '../../src/service/open-log.ts';
import { createWorkersReader } from '../../src/service/registry.ts';
import type { ServeOptions } from '../../src/service/serve-options.ts';
import { startWorkers, stopWorkers } from '../../src/service/workers.ts';
import { sum } from '../support/metrics.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { countTimers } from '../support/timers.ts';
import { within } from '../support/until.ts';

const COUNTS = new URL('../../src/service/counts.ts', import.meta.url);
const REGISTRY = new URL('../../src/service/registry.ts', import.meta.url);
const STORE_COUNTS = new URL('../../src/store.ts', import.meta.url);
/** Only the worker with the READY of 1 is ready. */
const MEASURED = `
  import { RequestCounts } from '${COUNTS}';
  import { createMetricsReader } from '${REGISTRY}';
  import { createStoreCounts } from '${STORE_COUNTS}';
  createMetricsReader({
    counts: new RequestCounts(),
    app: {
      readConnections: () => ({ connections: 5, requestsAtWork: 0, waitingRequests: 0, closedConnections: 0 }),
      checkReady: async () => { if (process.env.READY !== '1') throw new Error('not ready'); },
    },
    store: { counts: createStoreCounts() },
    workers: 3,
    countDropped: () => 0,
  });
  process.send('started');`;
const ENDS_WHEN_ASKED = `
  process.on('message', () => process.exit());
  process.send('started');`;
const ENDS = `
  process.send('started', () => process.disconnect());
  setInterval(() => undefined, 1_000);`;

const folder = createProcessFolder();
const readWorkers = createWorkersReader();

/** A worker that runs this program, and has started. */
async function startWorker(t: TestContext, program: string, env = {}) {
  const exec = join(folder, 'worker.mjs');
  writeFileSync(exec, program);
  cluster.setupPrimary({ exec, execArgv: [] });
  const worker = cluster.fork(env);
  t.after(async () => {
    worker.process.kill('SIGKILL');
    if (!worker.isDead()) await once(worker, 'exit');
  });
  await once(worker, 'message');
  return worker;
}

const countListeners = (...workers: readonly Worker[]) =>
  workers.flatMap((worker) => ['message', 'disconnect'].map((name) => worker.listenerCount(name)));

test('workers › many scrapes at once, one is not ready, another is frozen › petstore_ready is 0, the connections of those that answer are added, and nothing is left', async (t) => {
  const unready = await startWorker(t, MEASURED, { READY: '0' });
  const ready = await startWorker(t, MEASURED, { READY: '1' });
  const frozen = await startWorker(t, MEASURED, { READY: '1' });
  const taken = () => [...countListeners(unready, ready, frozen), countTimers()];
  const before = taken();
  await readWorkers();
  assert.deepEqual(taken(), before);
  frozen.process.kill('SIGSTOP');
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const answered = [unready, ready].map((worker) => once(worker, 'message'));
  // More than Node lets listen without a warning.
  const reading = Promise.all(Array.from({ length: 12 }, readWorkers));
  await Promise.all(answered);
  t.mock.timers.tick(4_000);
  const [metrics = ''] = await reading;
  assert.deepEqual(taken(), before);
  assert.equal(sum(metrics, 'petstore_ready'), 0);
  assert.equal(sum(metrics, 'petstore_workers'), 3);
  assert.equal(sum(metrics, 'petstore_workers_answering'), 2);
  assert.equal(sum(metrics, 'petstore_http_connections'), 10);
});

test('workers › one ends while it is asked for its metrics, another is about to end, twice › hold no scrape up, and nothing is left', async (t) => {
  // A mocked timer ends no scrape, and only a real one is counted.
  for (const isMocked of [true, false]) {
    const asked = await startWorker(t, ENDS_WHEN_ASKED);
    const worker = await startWorker(t, ENDS);
    if (worker.isConnected()) await once(worker, 'disconnect');
    const taken = () => [...countListeners(asked, worker), countTimers()];
    const before = taken();
    if (isMocked) t.mock.timers.enable({ apis: ['setTimeout'] });
    const message = 'no worker gave its metrics in time';
    await assert.rejects(readWorkers(), { code: 'unavailable', message });
    assert.deepEqual(taken(), before);
    t.mock.timers.reset();
  }
});

test('workers › none is there when all stop, or a dead one is still listed › ends, and leaves no timer', async (t) => {
  const before = countTimers();
  await stopWorkers();
  const dead = await startWorker(t, ENDS_WHEN_ASKED);
  dead.process.kill('SIGKILL');
  await once(dead, 'exit');
  const listed = Object.assign(cluster.workers ?? {}, { dead });
  await within(stopWorkers());
  Reflect.deleteProperty(listed, 'dead');
  assert.equal(countTimers(), before);
});

test('workers › one is frozen when all stop › is killed after 13 s, and not before', async (t) => {
  const worker = await startWorker(t, ENDS_WHEN_ASKED);
  worker.process.kill('SIGSTOP');
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { mock: kill } = t.mock.method(worker.process, 'kill');
  const sent = () => kill.calls.map((call) => call.arguments[0]);
  const stopped = stopWorkers();
  t.mock.timers.tick(12_999);
  assert.deepEqual(sent(), ['SIGTERM']);
  t.mock.timers.tick(1);
  assert.deepEqual(sent(), ['SIGTERM', 'SIGKILL']);
  await stopped;
  assert.equal(worker.process.signalCode, 'SIGKILL');
});

test('workers › one has just died when it is asked for its metrics › is told in the log', {
  skip: !existsSync('/proc') && 'whether a process has died is read in /proc',
}, async (t) => {
  const exec = join(folder, 'listens.mjs');
  writeFileSync(
    exec,
    "import net from 'node:net'; net.createServer().listen(process.argv.at(-1));",
  );
  cluster.setupPrimary({ exec, execArgv: [] });
  t.after(() => cluster.removeAllListeners('fork').removeAllListeners('exit'));
  const lines: string[] = [];
  const log = createLog('error', (line) => lines.push(line));
  await startWorkers({ workers: 1, host: '127.0.0.1', port: 0 } as ServeOptions, log, () => true);
  const [worker] = Object.values(cluster.workers ?? {});
  const pid = worker?.process.pid;
  worker?.process.kill('SIGKILL');
  // In this turn, so that it is still taken for connected. Its last thread closes the channel.
  while (
    readdirSync(`/proc/${pid}/task`).length > 1 ||
    !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  );
  await assert.rejects(readWorkers(), { code: 'unavailable' });
  const [{ msg, worker: told } = {}] = lines.map((line) => JSON.parse(line));
  assert.deepEqual([msg, told], ['a worker cannot be reached', pid]);
});
