/** The limits of a store: what waits, what is read or written at once, and what is cached. */

import { limit, MIB, toValues } from '../limit.ts';

const RETRY = '503 with `Retry-After`';

export const STORE_LIMITS = {
  // One turn parses all their rows, at most 5,000.
  LISTS_AT_ONCE_MAX: limit(50, 'lists in a turn on PostgreSQL', 'the rest in the next turn'),
  // Longer than a commit takes.
  SETTLE_MS_MAX: limit(
    500,
    'the wait of a list on PostgreSQL for creates under way with smaller ids',
    'the page ends before them; if it would be empty, 503 with `Retry-After`',
  ),
  CACHED_UNITS_MAX: limit(
    8 * MIB,
    'cached pages, and cached pets',
    'the cache is emptied',
    'petstore_page_reads_total',
  ),
  BUSY_MS_MAX: limit(4_000, 'the wait for a lock on SQLite', RETRY),
  // While a step waits for a table, all later statements on the table wait behind it, with their connections.
  TABLE_LOCK_MS_MAX: limit(200, "a migration's wait for a table", 'a new try 0.5 s later'),
  MIGRATION_LOCK_SECONDS_MAX: limit(60, "a wait for another process's migration", 'a new try'),
  // A step holds the writer for some milliseconds.
  PURGED_ROWS_MAX: limit(200, 'expired `Idempotency-Key`s in a step', 'a pause of 20 ms'),
};

export const LIMITS = toValues(STORE_LIMITS);
