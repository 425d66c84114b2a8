/** The metrics of the service: the name, kind and help of each, and how it is read. */

import type { FastifyInstance } from 'fastify';
import manifest from '../../package.json' with { type: 'json' };
import type { StoreStatistics } from '../store.ts';
import type { Counted, Durations, Tally } from './counts.ts';

/** What is read at each scrape. */
export interface Sources {
  readonly connections: FastifyInstance['readConnections'];
  store(): StoreStatistics;
  isReady(): Promise<boolean>;
  readonly workers: number;
  droppedLogLines(): number;
}

/** The sources, and what is counted for each request. */
export interface Readings extends Sources {
  readonly keyRequests: Tally;
  readonly refusals: Tally;
  readonly durations: Durations;
}

export interface MetricRow {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** The value, or a value for each combination of labels. */
  readonly read: (from: Readings) => number | Promise<number> | Iterable<Counted>;
  readonly labels: readonly string[];
  /** How the values of several workers become one; by default by their sum. */
  readonly aggregator?: 'min' | 'max';
  readonly isOfPostgres?: boolean;
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
    async ({ isReady }) => Number(await isReady()),
    { aggregator: 'min' },
  ),
  petstore_workers: gauge('The processes that --workers asks for.', ({ workers }) => workers, {
    aggregator: 'max',
  }),
  petstore_workers_answering: gauge('The processes whose metrics are in this scrape.', () => 1),
  petstore_key_requests_total: counter(
    'Requests of each key, by the id that keys list shows.',
    ({ keyRequests }) => keyRequests.read(),
    { labels: ['key_id'] },
  ),
  petstore_http_refusals_total: counter(
    'Refused requests by error code; those with status 401 or 503 also by reason.',
    ({ refusals }) => refusals.read(),
    { labels: ['code', 'reason'] },
  ),
  petstore_http_request_duration_seconds: histogram(
    'Requests by method, route and status, and how long their answers took.',
    ({ durations }) => durations.read(),
    { labels: ['method', 'route', 'status'] },
  ),
  petstore_http_connections: gauge(
    'Open connections.',
    ({ connections }) => connections().connections,
  ),
  petstore_http_requests_in_flight: gauge(
    'Requests whose answers are not sent yet.',
    ({ connections }) => connections().requestsAtWork,
  ),
  petstore_http_waiting_requests: gauge(
    'Requests that wait for their turn in the fair queue.',
    ({ connections }) => connections().waitingRequests,
  ),
  petstore_commits_total: counter('Group commits.', ({ store }) => store().commits),
  petstore_committed_writes_total: counter(
    'Writes in group commits, most of them creates.',
    ({ store }) => store().committedWrites,
  ),
  petstore_commit_seconds_total: counter(
    'The time that group commits took, with their syncs of the disk.',
    ({ store }) => store().commitSeconds,
  ),
  petstore_waiting_writes: gauge(
    'Writes that wait for the next group commit.',
    ({ store }) => store().waitingWrites,
  ),
  petstore_pet_queries_total: counter(
    'Queries of pets that clients list or get.',
    ({ store }) => store().reads,
  ),
  petstore_page_reads_total: counter(
    'Pages of lists, from the page cache and from the database.',
    ({ store }) => readPages(store()),
    { labels: ['from'] },
  ),
  petstore_log_dropped_lines_total: counter(
    'Log lines that were dropped, because nobody read standard error.',
    ({ droppedLogLines }) => droppedLogLines(),
  ),
  petstore_database_connections: gauge(
    'Connections to PostgreSQL that are used or idle, and work that waits for a connection.',
    ({ store }) => readConnections(store()),
    { labels: ['state'], isOfPostgres: true },
  ),
  petstore_database_broken_connections_total: counter(
    'Connections to PostgreSQL that broke or did not answer in time.',
    ({ store }) => store().connections?.broken ?? 0,
    { isOfPostgres: true },
  ),
};

function readPages({ pages, readPages }: StoreStatistics): Counted[] {
  return [
    { labels: ['cache'], count: pages - readPages },
    { labels: ['database'], count: readPages },
  ];
}

function readConnections({ connections }: StoreStatistics): Counted[] {
  const { used = 0, idle = 0, waiting = 0 } = connections ?? {};
  const counts = Object.entries({ used, idle, waiting });
  return counts.map(([state, count]) => ({ labels: [state], count }));
}
