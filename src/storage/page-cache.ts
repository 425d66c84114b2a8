/** Page cache: the JSON text of pages that were read, kept until the next commit to the database. */

import type { JsonPage, PetQuery } from '../store.ts';
import { Statistics } from './statistics.ts';

/** The most that is kept, in UTF-16 units; a page of 20 has about 1,500. */
const CACHED_UNITS_MAX = 8 * 1024 * 1024;
/** What a page costs beside its text, so that many empty pages cannot fill the memory either. */
const PAGE_UNITS = 128;

/**
 * A function that reads each page at most once between two commits. A page is never older than a
 * write that was acknowledged before the page was asked for.
 *
 * @param readCommitCounter a number that changes with every commit, of any process. NaN, which
 *   equals nothing, when it cannot be read: then no page is cached.
 */
export function createPageCache(
  readPage: (query: PetQuery) => Promise<JsonPage>,
  readCommitCounter: () => number,
  statistics = new Statistics(),
): (query: PetQuery) => Promise<JsonPage> {
  const pages = new Map<string, JsonPage>();
  let counter = Number.NaN;
  let units = 0;

  function clear(): void {
    pages.clear();
    units = 0;
  }

  async function readAndCache(query: PetQuery, name: string, askedAt: number): Promise<JsonPage> {
    statistics.readPages += 1;
    const page = await readPage(query);
    // After a commit meanwhile, the page is right for this reader, and too old for any later one.
    if (askedAt === counter) {
      const cost = PAGE_UNITS + page.json.length;
      if (units + cost > CACHED_UNITS_MAX) clear();
      units += cost;
      pages.set(name, page);
    }
    return page;
  }

  return async (query) => {
    const askedAt = readCommitCounter();
    if (askedAt !== counter) {
      clear();
      counter = askedAt;
    }
    const name = `${query.limit} ${query.status} ${query.after}`;
    const cached = pages.get(name);
    if (cached === undefined) return readAndCache(query, name, askedAt);
    statistics.cachedPages += 1;
    return cached;
  };
}
