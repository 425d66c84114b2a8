/** What metrics count of requests, and how many labels they keep. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import type { RequestLine } from '../../src/log.ts';
import { RequestCounts } from '../../src/service/counts.ts';
import { METRICS } from '../../src/service/metrics.ts';
import { createMetricsReader } from '../../src/service/registry.ts';
import type { Statistics } from '../../src/statistics.ts';
import type { Store } from '../../src/store.ts';

const STATISTICS: Statistics = {
  ...{ commits: 2, committedWrites: 7, commitSeconds: 0.5 },
  ...{ reads: 9, pages: 5, readPages: 1 },
};

const LINE: RequestLine = {
  ...{ client: '192.0.2.1', method: 'GET', route: '/v1/pets', status: 200 },
  ...{ ms: 2, requestId: 'a', keyId: 1 },
};

function create(countConnections?: Store['countConnections']) {
  const counts = new RequestCounts();
  const read = createMetricsReader({
    counts,
    app: {
      readConnections: () => ({ connections: 5, requestsAtWork: 6, waitingRequests: 8 }),
      checkReady: async () => undefined,
    },
    store: { statistics: STATISTICS, countConnections },
    workers: 3,
    countDropped: () => 8,
  });
  return { count: counts.count, read };
}

test('metrics › what is read at a scrape › is its value, however often, and each metric has one', async () => {
  const metrics = create(() => ({ used: 1, idle: 2, waiting: 3, broken: 4 }));
  metrics.count({ ...LINE, refusal: { code: 'unavailable', reason: 'why' } });
  await metrics.read();
  const [text] = await Promise.all([metrics.read(), metrics.read()]);
  const isEmpty = (name: string) =>
    !new RegExp(`^${name}(?:_count)?(?:\\{.*\\})? (?!0$)`, 'm').test(text);
  assert.deepEqual(Object.keys(METRICS).filter(isEmpty), []);
  for (const line of [
    `petstore_build_info{version="${manifest.version}",node="${process.version}"} 1`,
    'petstore_ready 1',
    'petstore_workers 3',
    'petstore_workers_answering 1',
    'petstore_http_connections 5',
    'petstore_http_requests_in_flight 6',
    'petstore_http_waiting_requests 8',
    'petstore_commits_total 2',
    'petstore_committed_writes_total 7',
    'petstore_commit_seconds_total 0.5',
    'petstore_pet_queries_total 9',
    'petstore_log_dropped_lines_total 8',
    'petstore_page_reads_total{from="cache"} 4',
    'petstore_page_reads_total{from="database"} 1',
    'petstore_database_connections{state="used"} 1',
    'petstore_database_connections{state="idle"} 2',
    'petstore_database_connections{state="waiting"} 3',
    'petstore_database_broken_connections_total 4',
  ]) {
    assert.ok(text.includes(`\n${line}\n`), line);
  }
});

test('metrics › a request that the parser refused › is a refusal without a time', async () => {
  const metrics = create();
  const { method: _, route: __, ms: ___, ...line } = LINE;
  const refusal = { code: 'bad_request', reason: 'not HTTP' } as const;
  metrics.count({ ...line, status: 400, keyId: null, refusal });
  const text = await metrics.read();
  assert.ok(text.includes('\npetstore_http_refusals_total{code="bad_request",reason=""} 1\n'));
  assert.doesNotMatch(text, /duration_seconds_count\{|key_requests_total\{/);
  // A store on SQLite has no connections.
  assert.doesNotMatch(text, /^petstore_database_/m);
});

test('metrics › refusals with a reason › have it where there are few', async () => {
  const metrics = create();
  for (const code of ['unauthorized', 'unavailable', 'not_found'] as const) {
    metrics.count({ ...LINE, refusal: { code, reason: 'why' } });
  }
  const text = await metrics.read();
  for (const labels of [
    'code="unauthorized",reason="why"',
    'code="unavailable",reason="why"',
    'code="not_found",reason=""',
  ]) {
    assert.ok(text.includes(`\npetstore_http_refusals_total{${labels}} 1\n`), labels);
  }
});

test('metrics › requests of several times › are counted up to each bound, and summed in seconds', async () => {
  const metrics = create();
  for (const ms of [500, 1_000, 2_500, 3_000]) metrics.count({ ...LINE, ms });
  const text = await metrics.read();
  const labels = 'method="GET",route="/v1/pets",status="200"';
  for (const [le, count] of [
    ['0.25', 0],
    ['0.5', 1],
    ['1', 2],
    ['2.5', 3],
    ['+Inf', 4],
  ]) {
    assert.ok(text.includes(`_seconds_bucket{le="${le}",${labels}} ${count}\n`), `${le}`);
  }
  assert.ok(text.includes(`_seconds_sum{${labels}} 7\n`));
});

test('metrics › methods that are not served › count as one', async () => {
  const metrics = create();
  for (const method of ['PROPFIND', 'MKCOL', 'PURGE']) metrics.count({ ...LINE, method });
  const text = await metrics.read();
  assert.ok(text.includes('_count{method="other",route="/v1/pets",status="200"} 3'));
});

test('metrics › more keys than have a label each › count together, and known keys go on', async () => {
  const metrics = create();
  for (let keyId = 1; keyId <= 700; keyId += 1) metrics.count({ ...LINE, keyId });
  metrics.count({ ...LINE, keyId: 500 });
  const text = await metrics.read();
  assert.ok(text.includes('petstore_key_requests_total{key_id="500"} 2'));
  assert.ok(text.includes('petstore_key_requests_total{key_id="others"} 200'));
});
