/** The metrics of the service, in the text format and with the naming of Prometheus. */

import cluster from 'node:cluster';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { SERVED_METHODS } from '../http/protocol/methods.ts';
import type { RequestLine } from '../log.ts';
import type { StoreStatistics } from '../store.ts';
import { Durations, Tally } from './counts.ts';

/** What is read at each scrape. */
export interface Sources {
  connections(): {
    readonly connections: number;
    readonly requestsAtWork: number;
    readonly waitingRequests: number;
  };
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
  const requests = new Tally();
  const refusals = new Tally();
  const durations = new Durations();
  addTally(registry, requests, {
    name: 'petstore_key_requests_total',
    help: 'Requests of each key, by the id that keys list shows.',
    labelNames: ['key_id'],
  });
  addTally(registry, refusals, {
    name: 'petstore_http_refusals_total',
    help: 'Refused requests by the code of their Error, 401 and 503 by their reason too.',
    labelNames: ['code', 'reason'],
  });
  registry.registerMetric(
    durations.toMetric(
      'petstore_http_request_duration_seconds',
      'Requests by method, route and status, and how long their answers took.',
    ),
  );

  return ({ method = '', route = 'none', status, ms, keyId, refusal }) => {
    // The parser refused the others before their time was taken.
    if (ms !== undefined) durations.observe(toLabel(method), route, status, ms / 1_000);
    if (keyId !== null) requests.count(String(keyId));
    if (refusal === undefined) return;
    const { code, reason = '' } = refusal;
    const isOfFew = code === 'unauthorized' || code === 'unavailable';
    refusals.count(code, isOfFew ? reason : '');
  };
}

/** Node parses 35 methods: with a series for each, anyone could use up all labels. */
function toLabel(method: string): string {
  return SERVED_METHODS.includes(method) ? method : 'other';
}

/** A counter that is given its values at a scrape. */
function addTally(
  registry: Registry,
  tally: Tally,
  { name, help, labelNames }: { name: string; help: string; labelNames: readonly string[] },
): void {
  new Counter({
    ...{ name, help, labelNames, registers: [registry] },
    collect() {
      this.reset();
      for (const { labels, count } of tally.read()) this.labels(...labels).inc(count);
    },
  });
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
  addGauge(
    'petstore_http_waiting_requests',
    'Requests that wait for their turn in the fair queue.',
    () => connections().waitingRequests,
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
