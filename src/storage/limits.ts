/** The limits of a store: how long a list waits for creates, and a statement for a lock. */

import { limit, TRY_LATER } from '../limit.ts';

export const STORE_LIMITS = {
  // Longer than a commit takes.
  SETTLE_MS_MAX: limit(
    500,
    'the wait of a list on PostgreSQL for creates under way with smaller ids',
    `the page ends before them; if it would be empty, ${TRY_LATER}`,
  ),
  BUSY_MS_MAX: limit(4_000, 'the wait for a lock on SQLite', TRY_LATER),
};
