/** Waits for a database that is away when a service starts. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenOptions } from '../engine.ts';
import { isAway } from './errors.ts';
import type { Hosts } from './hosts.ts';

/** Between two tries. */
const PAUSE_MS = 500;
/** Between two warnings. */
const WARNING_MS = 5_000;

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
      await sleep(Math.min(PAUSE_MS, deadline - now));
    }
  }
}
