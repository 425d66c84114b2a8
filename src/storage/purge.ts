/** The purge: removes expired idempotency keys in small steps, by a timer, while a store is open. */

import { IDEMPOTENCY_MS } from '../store.ts';
import type { Engine } from './engine.ts';
import { LIMITS } from './limits.ts';

/** Between two steps while there are more keys to purge; meanwhile the writer is free. */
const PAUSE_MS = 20;
const INTERVAL_MS = 60_000;

/** An hour longer than a key counts: no create may still need it, also if its clock is some minutes behind. */
const KEPT_MS = IDEMPOTENCY_MS + 60 * 60 * 1_000;

/**
 * The statement of a step: removes at most PURGED_ROWS_MAX idempotency keys, up to a time, and returns their names.
 *
 * @param lock leaves out the rows that another transaction writes: the statement must not wait for them.
 */
export function toPurge(lock: string): string {
  return `delete from idempotency_keys where (api_key_id, name) in (
    select api_key_id, name from idempotency_keys where created_at <= ?
    order by created_at limit ${LIMITS.PURGED_ROWS_MAX} ${lock}) returning name`;
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
  let isStopped = false;

  async function step(): Promise<void> {
    if (isStopped) return;
    // A later step makes up for a step that failed.
    const purged = await purge(now()).catch(() => 0);
    const hasMore = purged === LIMITS.PURGED_ROWS_MAX;
    setTimeout(step, hasMore ? PAUSE_MS : intervalMs).unref();
  }

  /** Resolves to how many keys it removed. */
  async function purge(at: number): Promise<number> {
    const clockError = engine.findClockError && (await engine.findClockError(at));
    if (clockError !== undefined) {
      warn(`no idempotency key is purged: ${clockError}`);
      return 0;
    }
    const [purged = []] = await engine.write({ sql: engine.purge, values: [at - KEPT_MS] });
    return purged.length;
  }

  setTimeout(step, PAUSE_MS).unref();
  return () => {
    isStopped = true;
  };
}
