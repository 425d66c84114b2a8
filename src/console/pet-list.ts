/** The list: the pets of the filters, and more of them when the reader comes to their end. */

import { CSV_HEADER, toCsvRow } from '../csv.ts';
import { PAGE_LIMIT_MAX } from '../pet.ts';
import { fillIn, getElement, keepFile, readTexts, say, show } from './elements.ts';
import { PetTable } from './pet-table.ts';
import { createClient } from './session.ts';

const PAGE = 50;

export class PetList {
  readonly #form = getElement('list-form', HTMLFormElement);
  readonly #download = getElement('download', HTMLButtonElement);
  readonly table = new PetTable();
  /** Ends what reads the list before: its late answer would mix two lists. */
  #reading = new AbortController();
  #downloading: AbortController | undefined;
  #filters = new URLSearchParams();
  /** The cursor of the next page; undefined at the end of the list. */
  #next: string | undefined;
  #isReading = false;
  readonly #end: IntersectionObserver;

  /** @param showMore called when the end of the list comes into view. */
  constructor(showMore: () => void) {
    this.#end = new IntersectionObserver(([entry]) => entry?.isIntersecting && showMore());
  }

  /** Whether the filters of the address are those of the list. */
  isShown(address: URLSearchParams): boolean {
    const shown = this.#filters;
    fillIn(this.#form, address);
    return String(readTexts(this.#form)) === String(shown);
  }

  /** Shows the pets of these filters, from the first one on. */
  async open(address: URLSearchParams): Promise<void> {
    fillIn(this.#form, address);
    this.#filters = readTexts(this.#form);
    this.#reading.abort();
    this.#reading = new AbortController();
    this.#next = undefined;
    this.#isReading = false;
    await this.#read(this.#reading.signal);
  }

  async showMore(): Promise<void> {
    if (this.#next === undefined || this.#isReading) return;
    await this.#read(this.#reading.signal);
  }

  async #read(signal: AbortSignal): Promise<void> {
    const cursor = this.#next;
    this.#isReading = true;
    try {
      const asked = { ...Object.fromEntries(this.#filters), limit: PAGE, cursor, signal };
      const { pets, next } = await createClient('work').listPage(asked);
      this.#next = next;
      if (cursor === undefined) this.table.show(pets);
      else this.table.append(pets);
      const { length } = this.table.pets;
      say('shown', `${length} ${length === 1 ? 'pet' : 'pets'}${next ? ', and more' : ''}`);
      const isEmpty = length === 0 && next === undefined;
      show('empty', isEmpty && this.#filters.size === 0);
      show('empty-filter', isEmpty && this.#filters.size > 0);
      show('more', next !== undefined);
      // An end that stays in view is seen only by a new look.
      this.#end.disconnect();
      this.#end.observe(getElement('next', HTMLElement));
    } finally {
      // Another list may be read by now.
      if (!signal.aborted) this.#isReading = false;
    }
  }

  /** Lets the browser keep all pets of the filters. A second call stops the first. */
  async download(): Promise<void> {
    const before = this.#downloading;
    before?.abort();
    if (before !== undefined) return;
    this.#downloading = new AbortController();
    const { signal } = this.#downloading;
    const rows = [CSV_HEADER];
    try {
      const asked = { ...Object.fromEntries(this.#filters), limit: PAGE_LIMIT_MAX, signal };
      for await (const pet of createClient('work').list(asked)) {
        rows.push(toCsvRow(pet));
        this.#download.textContent = `Stop: ${rows.length - 1} pets`;
      }
      keepFile('pets.csv', rows);
    } finally {
      this.#downloading = undefined;
      this.#download.textContent = 'Download CSV';
    }
  }
}
