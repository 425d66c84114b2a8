/** The metrics of the service: the name, kind and help of each, and how it is read. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import manifest from '../../package.json' with { type: 'json' };
import type { Store } from '../store.ts';
import type { Counted, RequestCounts } from './counts.ts';

/** The time of the check for `petstore_ready`: then it is 0. */
const READY_MS_MAX = 2_000;

export interface Sources {
  readonly counts: RequestCounts;
  readonly app: Pick<FastifyInstance, 'readConnections' | 'checkReady'>;
  readonly store: Pick<Store, 'counts' | 'countConnections'>;
  readonly workers: number;
  countDropped(): number;
}

export interface MetricRow {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly read: (from: Sources) => number | Promise<number> | Iterable<Counted>;
  readonly labels: readonly string[];
  /** How the values of several workers become one; by default by their sum. */
  readonly aggregator?: 'min' | 'max';
}

const rowOf =
  (kind: MetricRow['kind']) =>
  (help: string, read: MetricRow['read'], more: Partial<MetricRow> = {}): MetricRow => ({
    kind,
    help,
    read,
    labels: [],
    ...more,
  });

const counter = rowOf('counter');
const gauge = rowOf('gauge');
const histogram = rowOf('histogram');

export const METRICS: Readonly<Record<string, MetricRow>> = {
  petstore_build_info: gauge(
    'Always 1, with the versions of this program and of Node.',
    () => [{ labels: [manifest.version, process.version], count: 1 }],
    { labels: ['version', 'node'], aggregator: 'max' },
  ),
  petstore_ready: gauge(
    '1 if /readyz is 200 in every worker that answers, else 0.',
    async ({ app }) => Number(await isReady(app)),
    { aggregator: 'min' },
  ),
  petstore_workers: gauge('The processes that --workers asks for.', ({ workers }) => workers, {
    aggregator: 'max',
  }),
  petstore_workers_answering: gauge('The processes whose metrics are in this scrape.', () => 1),
  petstore_key_requests_total: counter(
    'Requests of each key, by the id that keys list shows.',
    ({ counts }) => counts.keyRequests.values(),
    { labels: ['key_id'] },
  ),
  petstore_http_refusals_total: counter(
    'Refused requests by error code; those with status 401 or 503 also by reason.',
    ({ counts }) => counts.refusals.values(),
    { labels: ['code', 'reason'] },
  ),
  petstore_http_request_duration_seconds: histogram(
    'Requests by method, route and status, and how long their answers took.',
    ({ counts }) => [...counts.durations.values()].flat(),
    { labels: ['method', 'route', 'status'] },
  ),
  petstore_http_connections: gauge(
    'Open connections.',
    ({ app }) => app.readConnections().connections,
  ),
  petstore_http_closed_connections_total: counter(
    'Connections that were closed because --max-connections were open.',
    ({ app }) => app.readConnections().closedConnections,
  ),
  petstore_http_requests_in_flight: gauge(
    'Requests whose answers are not sent yet.',
    ({ app }) => app.readConnections().requestsAtWork,
  ),
  petstore_http_waiting_requests: gauge(
    'Requests that wait for their turn in the fair queue.',
    ({ app }) => app.readConnections().waitingRequests,
  ),
  petstore_commits_total: counter('Group commits.', ({ store }) => store.counts.commits),
  petstore_committed_writes_total: counter(
    'Writes in group commits, most of them creates.',
    ({ store }) => store.counts.committedWrites,
  ),
  petstore_commit_seconds_total: counter(
    'The time that group commits took, with their syncs of the disk.',
    ({ store }) => store.counts.commitSeconds,
  ),
  petstore_pet_queries_total: counter(
    'Queries of pets that clients list or get.',
    ({ store }) => store.counts.reads,
  ),
  petstore_page_reads_total: counter(
    'Pages of lists, from the page cache and from the database.',
    ({ store }) => {
      const { pages, readPages } = store.counts;
      return toCounted({ cache: pages - readPages, database: readPages });
    },
    { labels: ['from'] },
  ),
  petstore_log_dropped_lines_total: counter(
    'Log lines that were not written whole: nobody read standard error, or its disk was full.',
    ({ countDropped }) => countDropped(),
  ),
  petstore_database_connections: gauge(
    'Connections to PostgreSQL that are used or idle, and work that waits for a connection.',
    ({ store }) => {
      const { broken, ...states } = store.countConnections?.() ?? {};
      return toCounted(states);
    },
    { labels: ['state'] },
  ),
  petstore_database_broken_connections_total: counter(
    'Connections to PostgreSQL that broke or did not answer in time.',
    ({ store }) => store.countConnections?.().broken ?? [],
  ),
};

function toCounted(counts: Readonly<Record<string, number>>): Counted[] {
  return Object.entries(counts).map(([label, count]) => ({ labels: [label], count }));
}

/** The answer of `/readyz`, in time for a scrape. */
async function isReady(app: Sources['app']): Promise<boolean> {
  const late = sleep(READY_MS_MAX, false, { ref: false });
  const checked = app.checkReady().then(() => true);
  return Promise.race([checked, late]).catch(() => false);
}
