/** The pages of the list by their numbers. The service gives only a cursor for the next page. */

import type { PetPage } from '../../client/petstore-client.ts';
import { INT64_MAX } from '../int64.ts';
import { PAGE_LIMIT_MAX, PET_FILTERS } from '../pet.ts';
import { getElement, readField, readFields, readTexts, say } from './elements.ts';
import { createClient, findKey } from './session.ts';

/** Reads `count` pages from this page on, as one. */
type ReadPages = (page: number, count?: number) => Promise<PetPage>;

export class PetPages {
  readonly #form = getElement('list-form', HTMLFormElement);
  /** The filters and the limit of the cursors. With others, the cursors lead to other pages. */
  #asked = '';
  /** By the number of the page. The first page has no cursor. */
  #cursors = new Map<number, string | undefined>([[1, undefined]]);
  /** The page that was read last, and the id of its first pet. */
  #last = { page: 1, id: 0n };
  #reading = new AbortController();

  /** Undefined for the first page, and if the page before was not read. */
  findCursor(page: number): string | undefined {
    return this.#cursors.get(page);
  }

  keepCursor(page: number, cursor: string): void {
    this.#forgetOthers();
    this.#cursors.set(page, cursor);
  }

  /** Reads the page, or the last page if there are fewer, and the pages before without a cursor. */
  async read(page: number, key?: string): Promise<PetPage & { readonly page: number }> {
    const readPages = this.#startReadingPages(key);
    let at = Math.max(...[...this.#cursors.keys()].filter((known) => known <= page));
    let found = await readPages(at);
    while (at < page && found.next !== undefined) {
      at += 1;
      found = await readPages(at);
    }
    return { ...found, page: at };
  }

  /** The page of the pet. Only the page before has its cursor, so this reads all pages up to it. */
  async findPage(id: bigint): Promise<number> {
    const readPages = this.#startReadingPages();
    const limit = Number(readField(this.#form, 'limit'));
    const count = PAGE_LIMIT_MAX / limit;
    for (let page = this.#last.id <= id ? this.#last.page : 1; ; page += count) {
      say('shown', `Looking for the page of the pet, from page ${page} on`);
      const { pets, next } = await readPages(page, count);
      const index = pets.findIndex((pet) => pet.id >= id);
      // Without an index, the pet was removed meanwhile.
      if (index >= 0 || next === undefined) return page + Math.floor(Math.max(index, 0) / limit);
    }
  }

  /** Ends the read before: its late answer would replace the new one. */
  startReading(): AbortSignal {
    this.#reading.abort();
    this.#reading = new AbortController();
    return this.#reading.signal;
  }

  #startReadingPages(key = findKey()): ReadPages {
    this.#forgetOthers();
    const signal = this.startReading();
    const client = createClient(key);
    const cursors = this.#cursors;
    const filters = readFields(this.#form, PET_FILTERS);
    const limit = Number(readField(this.#form, 'limit'));
    return async (page, count = 1) => {
      const cursor = cursors.get(page);
      const found = await client.listPage({ ...filters, limit: limit * count, cursor, signal });
      if (found.next === undefined) cursors.delete(page + count);
      else cursors.set(page + count, found.next);
      this.#last = { page, id: found.pets[0]?.id ?? INT64_MAX };
      return found;
    };
  }

  #forgetOthers(): void {
    const asked = String(readTexts(this.#form));
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.#cursors = new Map([[1, undefined]]);
    this.#last = { page: 1, id: 0n };
  }
}
