/** What metrics count of requests, and how many labels they keep. */

import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import timers from 'node:timers/promises';
import manifest from '../../package.json' with { type: 'json' };
import type { ErrorCode } from '../../src/error.ts';
import type { RequestLine } from '../../src/log.ts';
import { RequestCounts } from '../../src/service/counts.ts';
import { METRICS } from '../../src/service/metrics.ts';
import { createMetricsReader } from '../../src/service/registry.ts';
import type { Store, StoreCounts } from '../../src/store.ts';

const STATISTICS: StoreCounts = {
  ...{ commits: 2, committedWrites: 7, commitSeconds: 0.5 },
  ...{ reads: 9, pages: 5, readPages: 1 },
};

const LINE: RequestLine = {
  ...{ client: '192.0.2.1', method: 'GET', route: '/v1/pets', status: 200 },
  ...{ ms: 2, requestId: 'a', keyId: 1 },
};

function create(
  countConnections?: Store['countConnections'],
  checkReady = (): Promise<void> => Promise.resolve(),
) {
  const counts = new RequestCounts();
  const read = createMetricsReader({
    counts,
    app: {
      readConnections: () => ({
        connections: 5,
        requestsAtWork: 6,
        waitingRequests: 8,
        closedConnections: 9,
      }),
      checkReady,
    },
    store: { counts: STATISTICS, countConnections },
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
    'petstore_http_closed_connections_total 9',
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

test('metrics › a database that does not answer › is not ready after 2 s', async (t) => {
  const { mock } = t.mock.method(
    timers,
    'setTimeout',
    async (_ms: number, value: unknown) => value,
  );
  syncBuiltinESMExports();
  t.after(() => {
    mock.restore();
    syncBuiltinESMExports();
  });
  const metrics = create(undefined, () => new Promise(() => {}));
  assert.match(await metrics.read(), /^petstore_ready 0$/m);
  assert.deepEqual(
    mock.calls.map((call) => call.arguments[0]),
    [2_000],
  );
});

const REQUESTS = 'petstore_http_request_duration_seconds';
const GET = 'method="GET",route="/v1/pets",status="200"';
const refuse = (code: ErrorCode) => ({ ...LINE, refusal: { code, reason: 'why' } });
const { method: _, route: __, ms: ___, ...UNPARSED } = refuse('bad_request');

for (const [what, lines, expected] of [
  [
    'refusals › have a reason where there are few',
    [refuse('unauthorized'), refuse('unavailable'), refuse('not_found')],
    [
      'petstore_http_refusals_total{code="unauthorized",reason="why"} 1',
      'petstore_http_refusals_total{code="unavailable",reason="why"} 1',
      'petstore_http_refusals_total{code="not_found",reason=""} 1',
    ],
  ],
  [
    'requests of several times › are counted up to each bound, and summed in seconds',
    [500, 1_000, 2_500, 3_000].map((ms) => ({ ...LINE, ms })),
    [
      `${REQUESTS}_bucket{le="0.25",${GET}} 0`,
      `${REQUESTS}_bucket{le="0.5",${GET}} 1`,
      `${REQUESTS}_bucket{le="2.5",${GET}} 3`,
      `${REQUESTS}_bucket{le="+Inf",${GET}} 4`,
      `${REQUESTS}_sum{${GET}} 7`,
    ],
  ],
  [
    'methods that are not served › count as one',
    ['PROPFIND', 'MKCOL', 'PURGE'].map((method) => ({ ...LINE, method })),
    [`${REQUESTS}_count{${GET.replace('GET', 'other')}} 3`],
  ],
  [
    'more keys than have a label each › count together, and known keys go on',
    [...Array(700).keys(), 499].map((keyId) => ({ ...LINE, keyId })),
    [
      'petstore_key_requests_total{key_id="499"} 2',
      'petstore_key_requests_total{key_id="others"} 200',
    ],
  ],
] as const) {
  test(`metrics › ${what}`, async () => {
    const metrics = create();
    for (const line of lines) metrics.count(line);
    const text = await metrics.read();
    for (const line of expected) assert.ok(text.includes(`\n${line}\n`), line);
  });
}

test('metrics › a request that the parser refused › is a refusal without a time', async () => {
  const metrics = create();
  metrics.count({ ...UNPARSED, keyId: null });
  const text = await metrics.read();
  assert.ok(text.includes('\npetstore_http_refusals_total{code="bad_request",reason=""} 1\n'));
  assert.doesNotMatch(text, /duration_seconds_count\{|key_requests_total\{/);
  // A store on SQLite has no connections.
  assert.doesNotMatch(text, /^petstore_database_/m);
});
