/** The list of pets: the page that it shows, and the address of this page. */

import type { PetPage } from '../../client/petstore-client.ts';
import { findCanonicalInt64, INT64_MAX } from '../int64.ts';
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../pet.ts';
import { fillIn, getElement, readTexts, say } from './elements.ts';
import { PetTable } from './pet-table.ts';
import { createClient } from './session.ts';

export class PetList {
  readonly #form = getElement('list-form', HTMLFormElement);
  readonly #findForm = getElement('find-form', HTMLFormElement);
  readonly table = new PetTable();
  #reading = new AbortController();
  /** The filters and the limit of the cursors. With others, the cursors lead to other pages. */
  #asked = new URLSearchParams();
  #limit = PAGE_LIMIT_DEFAULT;
  /** By the number of the page: the service gives only the cursor of the next page. The first page has none. */
  #cursors = new Map<number, string>();
  page = 1;

  async showAddress(): Promise<void> {
    const address = new URLSearchParams(location.hash.slice(1));
    fillIn(this.#form, address);
    this.#startReading();
    const page = Number(address.get('page'));
    const cursor = address.get('cursor');
    if (page > 1 && cursor !== null) this.#cursors.set(page, cursor);
    await this.show(cursor === null ? 1 : page).catch((error) => {
      if (error.code !== 'bad_request') throw error;
      // A person may have changed the address.
      this.#form.reset();
      return this.show(1);
    });
    this.table.mark(undefined);
  }

  /** Shows the page, and sets its address. */
  async open(page: number): Promise<void> {
    await this.show(page);
    this.table.mark(undefined);
    const address = new URLSearchParams(this.#asked);
    const cursor = this.#cursors.get(this.page);
    if (cursor !== undefined) {
      address.set('page', String(this.page));
      address.set('cursor', cursor);
    }
    if (location.hash !== `#${address}`) history.pushState(null, '', `#${address}`);
  }

  async find(): Promise<void> {
    const id = findCanonicalInt64(readTexts(this.#findForm).get('id') ?? '');
    if (id === undefined) throw new Error(`id must be a whole number up to ${INT64_MAX}`);
    const signal = this.#startReading();
    this.table.mark(await createClient().get(id, { signal }), `The pet with the id ${id}`);
  }

  /** Goes to the page of the marked pet. A filter could hide the pet, so the list has all pets. */
  async showMarked(): Promise<void> {
    const { marked } = this.table;
    if (marked === undefined) return;
    fillIn(this.#form, new URLSearchParams({ limit: String(this.#limit) }));
    await this.open(await this.#findPage(marked.id));
    this.table.showInPlace(marked.id);
  }

  /** Shows the page, or the last page if there are fewer. Also reads the pages before without a cursor. */
  async show(asked: number): Promise<void> {
    const signal = this.#startReading();
    let page = Math.max(1, ...[...this.#cursors.keys()].filter((known) => known <= asked));
    let found = await this.#read(page, signal);
    while (page < asked && found.next !== undefined) {
      page += 1;
      found = await this.#read(page, signal);
    }
    this.page = page;
    const isFiltered = [...this.#asked.keys()].some((name) => name !== 'limit');
    this.table.show(page, found, isFiltered);
  }

  /** The page of the pet. Reads all pages up to it, as many at once as the service gives. */
  async #findPage(id: bigint): Promise<number> {
    const signal = this.#startReading();
    const count = PAGE_LIMIT_MAX / this.#limit;
    const [first] = this.table.pets;
    const isFurtherOn = this.#cursors.has(this.page) && first !== undefined && first.id <= id;
    for (let page = isFurtherOn ? this.page : 1; ; page += count) {
      say('shown', `Looking for the page of the pet, from page ${page} on`);
      const { pets, next } = await this.#read(page, signal, count);
      const index = pets.findIndex((pet) => pet.id >= id);
      // Without an index, the pet was removed meanwhile.
      if (index >= 0 || next === undefined) {
        return page + Math.floor(Math.max(index, 0) / this.#limit);
      }
    }
  }

  /** Reads `count` pages from this page on, as one. */
  async #read(page: number, signal: AbortSignal, count = 1): Promise<PetPage> {
    const found = await createClient().listPage({
      ...Object.fromEntries(this.#asked),
      limit: this.#limit * count,
      cursor: this.#cursors.get(page),
      signal,
    });
    if (found.next === undefined) this.#cursors.delete(page + count);
    else this.#cursors.set(page + count, found.next);
    return found;
  }

  /** Ends the read before: its late answer would replace the new one. */
  #startReading(): AbortSignal {
    this.#reading.abort();
    this.#reading = new AbortController();
    const asked = readTexts(this.#form);
    if (String(asked) !== String(this.#asked)) this.#cursors = new Map();
    this.#asked = asked;
    // A person may have changed the address to a limit that the form does not have.
    this.#limit = Number(asked.get('limit') ?? PAGE_LIMIT_DEFAULT);
    return this.#reading.signal;
  }
}
