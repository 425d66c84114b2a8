/** What a store counts since it was opened, and the metric that shows each count. */

export interface StatisticRow {
  readonly kind: 'counter' | 'gauge';
  readonly metric: string;
  readonly help: string;
  /** Of several counts with one metric, the value of its label `from`. */
  readonly from?: string | undefined;
}

function counter(metric: string, help: string, from?: string): StatisticRow {
  return { kind: 'counter', metric, help, from };
}

const PAGES = 'petstore_page_reads_total';
const PAGES_HELP = 'Pages of lists, from the page cache and from the database.';

/** The parts of an engine count. */
export const STATISTICS = {
  commits: counter('petstore_commits_total', 'Group commits.'),
  committedWrites: counter(
    'petstore_committed_writes_total',
    'Writes in group commits, most of them creates.',
  ),
  commitSeconds: counter(
    'petstore_commit_seconds_total',
    'The time that group commits took, with their syncs of the disk.',
  ),
  waitingWrites: {
    kind: 'gauge',
    metric: 'petstore_waiting_writes',
    help: 'Writes that wait for the next group commit.',
  },
  reads: counter('petstore_pet_queries_total', 'Queries of pets that clients list or get.'),
  cachedPages: counter(PAGES, PAGES_HELP, 'cache'),
  readPages: counter(PAGES, PAGES_HELP, 'database'),
} satisfies Record<string, StatisticRow>;

export type Statistics = Record<keyof typeof STATISTICS, number>;

export function createStatistics(): Statistics {
  const counts = Object.keys(STATISTICS).map((name) => [name, 0]);
  return Object.fromEntries(counts) as Statistics;
}
