/** The purge: removes expired idempotency keys in small steps, by a timer, while a store is open. */

import { IDEMPOTENCY_MS } from '../store.ts';
import type { Engine } from './engine.ts';

/** Between two steps while there are more keys to purge; meanwhile the writer is free. */
const PAUSE_MS = 20;
const INTERVAL_MS = 60_000;
/** A step holds the writer for some milliseconds. */
const PURGED_ROWS_MAX = 200;

/** An hour longer than a key counts: a create that has found its key then reads its pet. */
const KEPT_MS = IDEMPOTENCY_MS + 60 * 60 * 1_000;

/**
 * @param now the time by the clock of the database, as its creates write it.
 * @param lock leaves out the rows that another transaction writes: the statement must not wait for them.
 */
export function toPurge(now: string, lock: string): string {
  return `delete from idempotency_keys where (api_key_id, name) in (
    select api_key_id, name from idempotency_keys where created_at <= ${now} - ${KEPT_MS}
    order by created_at limit ${PURGED_ROWS_MAX} ${lock}) returning name`;
}

export function startPurge(
  { write, purge }: Pick<Engine, 'write' | 'purge'>,
  intervalMs = INTERVAL_MS,
) {
  let isStopped = false;

  async function step(): Promise<void> {
    if (isStopped) return;
    // A later step makes up for a step that failed.
    const [purged = []] = await write({ sql: purge, values: [] }).catch(() => []);
    const hasMore = purged.length === PURGED_ROWS_MAX;
    setTimeout(step, hasMore ? PAUSE_MS : intervalMs).unref();
  }

  setTimeout(step, PAUSE_MS).unref();
  return () => {
    isStopped = true;
  };
}
