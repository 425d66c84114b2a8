/** The metrics of the service, in the text format and with the naming of Prometheus. */

import cluster from 'node:cluster';
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client';
import type { RequestLine } from '../log.ts';
import type { StoreStatistics } from '../store.ts';

/** Upper bounds: a get takes about 0.0003 s, a create with its sync of the disk 0.001 to 0.01 s. */
const LATENCY_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Keys, and reasons, that are counted each by itself; those above it count together, so that none fills the memory. */
const LABELS_MAX = 500;

/** What is read at each scrape. */
export interface Sources {
  connections(): { readonly connections: number; readonly requestsAtWork: number };
  store(): StoreStatistics;
  /** Lines of the log that were dropped so far. */
  droppedLogLines(): number;
}

export interface Metrics {
  /** Counts a request that is answered. */
  count(line: RequestLine): void;
  /** All metrics as text. */
  read(): Promise<string>;
}

/** Starts to count in this process. The primary reads those of a worker, by createClusterMetrics. */
export function createMetrics(sources: Sources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addStatistics(registry, sources);
  if (cluster.isWorker) {
    AggregatorRegistry.setRegistries(registry);
    // Its constructor adds the listener that answers the primary.
    new AggregatorRegistry();
  }
  return { count: createCount(registry), read: () => registry.metrics() };
}

/** For the primary: what reads the metrics of all workers as one; it throws when a worker is silent for 5 s. */
export function createClusterMetrics(): () => Promise<string> {
  const workers = new AggregatorRegistry();
  return () => workers.clusterMetrics();
}

function createCount(registry: Registry): (line: RequestLine) => void {
  const registers = [registry];
  const durations = new Histogram({
    name: 'petstore_http_request_duration_seconds',
    help: 'Requests by method, route and status, and how long their answers took.',
    labelNames: ['method', 'route', 'status'],
    buckets: LATENCY_SECONDS,
    registers,
  });
  const requests = new Counter({
    name: 'petstore_key_requests_total',
    help: 'Requests of each key, by the id that keys list shows.',
    labelNames: ['key_id'],
    registers,
  });
  const refusals = new Counter({
    name: 'petstore_http_refusals_total',
    help: 'Refused requests by the code of their Error, 401 and 503 by their reason too.',
    labelNames: ['code', 'reason'],
    registers,
  });
  const getDuration = keep((method, route, status) => durations.labels(method, route, status));
  const getRequests = keep((keyId) => requests.labels(keyId));
  const getRefusals = keep((code, reason) => refusals.labels(code, reason));

  return ({ method = '', route = 'none', status, ms, keyId, refusal }) => {
    // The parser refused the others before their time was taken.
    if (ms !== undefined) getDuration(method, route, String(status)).observe(ms / 1_000);
    if (keyId !== null) getRequests(String(keyId)).inc();
    if (refusal === undefined) return;
    const { code, reason = '' } = refusal;
    const isOfFew = code === 'unauthorized' || code === 'unavailable';
    getRefusals(code, isOfFew ? reason : '').inc();
  };
}

/** Keeps what `get` returns, since to look up labels costs more than to count. */
function keep<Counted>(get: (...labels: string[]) => Counted): (...labels: string[]) => Counted {
  const kept = new Map<string, Counted>();
  return (...labels) => {
    const name = labels.join(' ');
    const found = kept.get(name);
    if (found !== undefined) return found;
    if (kept.size >= LABELS_MAX) return get(...labels.map(() => 'others'));
    const counted = get(...labels);
    kept.set(name, counted);
    return counted;
  };
}

/** What is read, not counted here. */
function addStatistics(registry: Registry, sources: Sources): void {
  const registers = [registry];
  const addGauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read());
      },
    });
  const addCounter = (name: string, help: string, read: () => number) =>
    new Counter({
      ...{ name, help, registers },
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  const { connections, store, droppedLogLines } = sources;
  addGauge('petstore_http_connections', 'Open connections.', () => connections().connections);
  addGauge(
    'petstore_http_requests_in_flight',
    'Requests whose answers are not sent.',
    () => connections().requestsAtWork,
  );
  addCounter('petstore_commits_total', 'Group commits.', () => store().commits);
  addCounter(
    'petstore_committed_writes_total',
    'Writes in group commits, most of them creates.',
    () => store().committedWrites,
  );
  addCounter(
    'petstore_commit_seconds_total',
    'The time that group commits took, with their syncs of the disk.',
    () => store().commitSeconds,
  );
  addGauge(
    'petstore_waiting_writes',
    'Writes that wait for the next group commit.',
    () => store().waitingWrites,
  );
  addCounter(
    'petstore_log_dropped_lines_total',
    'Lines of the log that were dropped, since nobody read them.',
    droppedLogLines,
  );
  new Counter({
    name: 'petstore_page_reads_total',
    help: 'Pages of lists, from the page cache and from the database.',
    labelNames: ['from'],
    registers,
    collect() {
      const { cachedPages, readPages } = store();
      this.reset();
      this.inc({ from: 'cache' }, cachedPages);
      this.inc({ from: 'database' }, readPages);
    },
  });
  if (store().connections === undefined) return;
  new Gauge({
    name: 'petstore_database_connections',
    help: 'Connections to PostgreSQL that are used or idle, and work that waits for one.',
    labelNames: ['state'],
    registers,
    collect() {
      const { used = 0, idle = 0, waiting = 0 } = store().connections ?? {};
      this.set({ state: 'used' }, used);
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'waiting' }, waiting);
    },
  });
  addCounter(
    'petstore_database_broken_connections_total',
    'Connections to PostgreSQL that broke or did not answer in time.',
    () => store().connections?.broken ?? 0,
  );
}
