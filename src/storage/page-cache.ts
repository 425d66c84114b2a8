/** Pages as they were sent, kept while nothing is written; how a page is read is not known here. */

import type { JsonPage, PetQuery } from '../store.ts';

/** What is kept at most, in UTF-16 units; a page of 20 has about 1,500. */
const KEPT_UNITS_MAX = 8 * 1024 * 1024;
/** What a page costs beside its text: whoever asks for many empty pages must not fill the memory. */
const PAGE_UNITS = 128;

/**
 * Reads a page once for each version of the store. It is never older than a write that was
 * acknowledged before the version was asked for.
 *
 * @param readVersion a number that changes with every commit, whoever makes it.
 */
export function keepPages(
  read: (query: PetQuery) => Promise<JsonPage>,
  readVersion: () => number,
): (query: PetQuery) => JsonPage | Promise<JsonPage> {
  const pages = new Map<string, JsonPage>();
  let version = Number.NaN;
  let units = 0;

  function forget(): void {
    pages.clear();
    units = 0;
  }

  async function readAndKeep(query: PetQuery, name: string, asked: number): Promise<JsonPage> {
    const page = await read(query);
    // A write may have come between: then the page is right for this reader and for no later one.
    if (asked === version) {
      const cost = PAGE_UNITS + page.json.length;
      if (units + cost > KEPT_UNITS_MAX) forget();
      units += cost;
      pages.set(name, page);
    }
    return page;
  }

  return (query) => {
    const asked = readVersion();
    if (asked !== version) {
      forget();
      version = asked;
    }
    const name = `${query.limit} ${query.status} ${query.after}`;
    return pages.get(name) ?? readAndKeep(query, name, asked);
  };
}
