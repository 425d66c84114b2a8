/** Work that is tried again: while the database is away at a start, and when it rolled back a conflict. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenOptions } from '../engine.ts';
import { isAway, isConflict } from './errors.ts';
import type { Hosts } from './hosts.ts';

/** Between two tries. */
const AWAY_PAUSE_MS = 500;
/** Between two warnings. */
const WARNING_MS = 5_000;

const CONFLICT_TRIES_MAX = 5;
const CONFLICT_PAUSE_MS_MAX = 50;

/**
 * The work's result. While the database is away, the work is done again for `startTimeout` seconds.
 *
 * @throws PetstoreError what the last try threw.
 */
export async function waitWhileAway<T>(
  { mustWrite }: Hosts,
  { startTimeout = 0, warn = () => undefined }: OpenOptions,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + startTimeout * 1_000;
  let nextWarningAt = 0;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const now = performance.now();
      if (!isAway(error, mustWrite) || now >= deadline) throw error;
      if (now >= nextWarningAt) {
        nextWarningAt = now + WARNING_MS;
        warn(`${error.message}; trying again for ${Math.ceil((deadline - now) / 1_000)} s`);
      }
      await sleep(Math.min(AWAY_PAUSE_MS, deadline - now));
    }
  }
}

/** The work's result. If the database rolls the work back because of other work, the work is done again. */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || tries === CONFLICT_TRIES_MAX) throw error;
      await sleep(Math.random() * CONFLICT_PAUSE_MS_MAX);
    }
  }
}
