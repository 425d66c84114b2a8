/** Page cache: the JSON text of pages, and pets, that were read, kept until the next commit to the database. */

import { MIB } from '../limit.ts';
import { type PetQuery, toQueryText } from '../pet-query.ts';

/** UTF-16 units of a cache: pages and pets have a cache each. A full cache is emptied. */
const CACHED_UNITS_MAX = 8 * MIB;

/** What a result costs beside its text, so that many empty pages cannot fill the memory either. */
const RESULT_UNITS = 128;

/**
 * Reads each result at most once between two commits. No result is older than a write that was acknowledged before.
 *
 * @param readCommitCounter changes with every commit, of any process; NaN, when it cannot be read, caches nothing.
 * @param toUnits the UTF-16 units of the result's text; undefined when it is not to be cached.
 */
export function createCache<Result>(
  readCommitCounter: () => number,
  toUnits: (result: Result) => number | undefined,
): (name: string | bigint, read: () => Promise<Result>) => Promise<Result> {
  const results = new Map<string | bigint, Result>();
  let counter = Number.NaN;
  let units = 0;

  function clear(): void {
    results.clear();
    units = 0;
  }

  return async (name, read) => {
    const askedAt = readCommitCounter();
    if (askedAt !== counter) {
      clear();
      counter = askedAt;
    }
    const cached = results.get(name);
    if (cached !== undefined) return cached;
    const result = await read();
    const textUnits = toUnits(result);
    // After a commit meanwhile, the result is right for this call, and too old for any later call.
    if (askedAt === counter && textUnits !== undefined) {
      const cost = RESULT_UNITS + textUnits;
      if (units + cost > CACHED_UNITS_MAX) clear();
      units += cost;
      results.set(name, result);
    }
    return result;
  };
}

/** A text that no two different queries share. */
export const toPageName = (query: PetQuery): string => `${toQueryText(query)} ${query.after}`;
