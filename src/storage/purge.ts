/** The purge: removes expired idempotency keys in small steps, by a timer, while a store is open. */

import { IDEMPOTENCY_MS } from '../store.ts';
import type { Engine, Row } from './engine.ts';
import { LIMITS } from './limits.ts';

/** Between two steps while there are more keys to purge; meanwhile the writer is free. */
const PAUSE_MS = 20;
const INTERVAL_MS = 60_000;

/**
 * The statements of a step. Each returns the names of at most PURGED_ROWS_MAX idempotency keys: `remove` of the keys
 * that it removed, up to a time; `redate` of the keys after a time, to which it gave another time.
 *
 * @param lock makes a statement leave out the rows that another transaction writes: it must not wait for them.
 */
export function toPurge(lock: string): Engine['purge'] {
  const rows = (condition: string) => `where (api_key_id, name) in (
    select api_key_id, name from idempotency_keys where created_at ${condition} ?
    order by created_at limit ${LIMITS.PURGED_ROWS_MAX} ${lock}) returning name`;
  return {
    remove: `delete from idempotency_keys ${rows('<=')}`,
    redate: `update idempotency_keys set created_at = ? ${rows('>')}`,
  };
}

/**
 * Starts the purge; returns the function that stops it.
 *
 * @param now the clock of requests.
 */
export function startPurge(
  engine: Pick<Engine, 'write' | 'purge' | 'findClockError'>,
  now: () => number,
  warn: (message: string) => void = () => undefined,
  intervalMs = INTERVAL_MS,
) {
  const { remove, redate } = engine.purge;
  const openedAt = now() - performance.now();
  let isStopped = false;
  let timer = setTimeout(step, PAUSE_MS).unref();

  async function step(): Promise<void> {
    // A later step makes up for a step that failed.
    const changed = await change(now()).catch(() => []);
    if (isStopped) return;
    const hasMore = changed.some(({ length }) => length === LIMITS.PURGED_ROWS_MAX);
    timer = setTimeout(step, hasMore ? PAUSE_MS : intervalMs).unref();
  }

  async function change(at: number): Promise<Row[][]> {
    const clockError = engine.findClockError && (await engine.findClockError(at));
    if (clockError !== undefined) {
      warn(`no idempotency key is purged: ${clockError}`);
      return [];
    }
    // The clock may be set while the store is open. A key that is live by the old or the new time is kept. A key
    // that is in the future by both, from a wrong clock, gets the time of now: else it would be kept for years.
    const [least = 0, most = 0] = [at, openedAt + performance.now()].sort((a, b) => a - b);
    return engine.write(
      { sql: remove, values: [Math.floor(least) - IDEMPOTENCY_MS] },
      { sql: redate, values: [Math.floor(most), Math.floor(most) + IDEMPOTENCY_MS] },
    );
  }

  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
