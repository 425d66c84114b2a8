/** The list: the pets of the filters, and more of them when the reader comes to their end. */

import { createCsvFormat } from '../csv-format.ts';
import { PAGE_LIMIT_MAX } from '../pet-query.ts';
import { createClient } from './client.ts';
import { fillIn, getElement, keepFile, readTexts, show, write } from './elements.ts';
import { PetTable } from './pet-table.ts';

const PAGE = 50;

export class PetList {
  readonly #form = getElement('list-form', HTMLFormElement);
  readonly table = new PetTable();
  /** Ends what reads the list before: its late answer would mix two lists. */
  #reading = new AbortController();
  #filters: URLSearchParams | undefined;
  /** The cursor of the next page; undefined at the end of the list, and while the next page is read. */
  #next: string | undefined;
  readonly #end: IntersectionObserver;

  /** @param showMore called when the end of the list comes into view. */
  constructor(showMore: () => void) {
    // A busy page gets several looks at once: the last one is how it is now.
    this.#end = new IntersectionObserver((looks) => looks.at(-1)?.isIntersecting && showMore());
  }

  /** Shows the pets of the filters of an address, from the first one on, if it does not show them. */
  async open(address: URLSearchParams): Promise<void> {
    fillIn(this.#form, address);
    if (String(readTexts(this.#form)) !== String(this.#filters)) await this.reload();
  }

  async reload(): Promise<void> {
    this.#reading.abort();
    this.#reading = new AbortController();
    this.#next = undefined;
    this.#filters = undefined;
    const filters = readTexts(this.#form);
    await this.#read(filters);
    this.#filters = filters;
    getElement('list', HTMLElement).scrollTop = 0;
  }

  async showMore(): Promise<void> {
    const cursor = this.#next;
    if (cursor === undefined || this.#filters === undefined) return;
    this.#next = undefined;
    await this.#read(this.#filters, cursor).catch((error) => {
      // Not if another list is read by now.
      if (error.name !== 'AbortError') this.#next = cursor;
      throw error;
    });
  }

  async #read(filters: URLSearchParams, cursor?: string): Promise<void> {
    const { signal } = this.#reading;
    const asked = { ...Object.fromEntries(filters), limit: PAGE, cursor, signal };
    const { pets, next } = await createClient('work').listPage(asked);
    this.#next = next;
    if (cursor === undefined) this.table.clear();
    this.table.add(pets);
    const { size } = this.table.pets;
    write('shown', `${size} ${size === 1 ? 'pet' : 'pets'}${next ? ', and more' : ''}`);
    show('empty', size === 0 && filters.size === 0);
    show('empty-filter', size === 0 && filters.size > 0);
    show('more', next !== undefined);
    // An end that stays in view is seen only by a new look.
    this.#end.disconnect();
    this.#end.observe(getElement('next', HTMLElement));
  }

  /** Lets the browser keep all pets of the filters. */
  async download(): Promise<void> {
    const csv = createCsvFormat(false, ',');
    const rows = [csv.head];
    const filters = Object.fromEntries(readTexts(this.#form));
    for await (const pet of createClient('work').list({ ...filters, limit: PAGE_LIMIT_MAX })) {
      rows.push(csv.row(pet));
      write('shown', `${rows.length - 1} pets read`);
    }
    keepFile('pets.csv', rows);
  }
}
