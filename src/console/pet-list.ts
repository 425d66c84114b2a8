/** The list of pets: which page it shows, and under which address. */

import { findCanonicalInt64, INT64_MAX } from '../int64.ts';
import { PET_FILTERS, type Pet } from '../pet.ts';
import { fillIn, getElement, readField, readFields, readTexts, say } from './elements.ts';
import { PetPages } from './pet-pages.ts';
import { PetTable } from './pet-table.ts';
import { createClient, findKey } from './session.ts';

const EMPTY = 'There are no pets yet. Add the first one above, or many from a file.';

export class PetList {
  readonly #listForm = getElement('list-form', HTMLFormElement);
  readonly #findForm = getElement('find-form', HTMLFormElement);
  readonly #pages = new PetPages();
  readonly #table = new PetTable();
  #page = 1;

  /** Shows the page that the address names: after a reload, on the way back, or in another tab. */
  async showAddress(key = findKey()): Promise<void> {
    const address = new URLSearchParams(location.hash.slice(1));
    fillIn(this.#listForm, address);
    const asked = Number(address.get('page'));
    const page = asked > 0 && Number.isSafeInteger(asked) ? asked : 1;
    const cursor = address.get('cursor');
    if (page > 1 && cursor !== null) this.#pages.keepCursor(page, cursor);
    await this.#show(page, key).catch((error) => {
      if (error.code !== 'bad_request') throw error;
      // Somebody changed the address by hand.
      this.#listForm.reset();
      return this.#show(1, key);
    });
  }

  showFirst(): Promise<void> {
    return this.#open(1);
  }

  async showPrevious(): Promise<void> {
    if (this.#page > 1) await this.#open(this.#page - 1);
  }

  async showNext(): Promise<void> {
    if (this.#pages.findCursor(this.#page + 1)) await this.#open(this.#page + 1);
  }

  /** Reads the page again; the pet that is marked stays. */
  async showAgain(): Promise<void> {
    this.#table.show(await this.#read(this.#page));
  }

  async find(): Promise<void> {
    const id = findCanonicalInt64(readField(this.#findForm, 'id').trim());
    if (id === undefined) throw new Error(`id must be a whole number up to ${INT64_MAX}`);
    const signal = this.#pages.startReading();
    const found = await createClient(findKey())
      .get(id, { signal })
      .catch((error) => {
        throw error.code === 'not_found' ? new Error(`There is no pet with the id ${id}.`) : error;
      });
    this.mark(found, `The pet with the id ${id}`);
  }

  mark(pet: Pet, words: string): void {
    this.#table.mark(pet, words);
  }

  /** Goes to the page of the marked pet, in the list of all pets: a filter could leave the pet out. */
  async showMarked(): Promise<void> {
    const { marked } = this.#table;
    if (marked === undefined) return;
    const limit = readField(this.#listForm, 'limit');
    fillIn(this.#listForm, new URLSearchParams({ limit }));
    await this.#open(await this.#pages.findPage(marked.id));
    this.#table.showInPlace(marked.id);
  }

  /** Shows a page, which then is the page of the address. */
  async #open(page: number): Promise<void> {
    await this.#show(page);
    const address = readTexts(this.#listForm);
    const cursor = this.#pages.findCursor(this.#page);
    if (cursor !== undefined) {
      address.set('page', String(this.#page));
      address.set('cursor', cursor);
    }
    if (location.hash !== `#${address}`) history.pushState(null, '', `#${address}`);
  }

  async #show(page: number, key?: string): Promise<void> {
    const pets = await this.#read(page, key);
    this.#table.mark(undefined);
    this.#table.show(pets);
  }

  async #read(asked: number, key?: string): Promise<readonly Pet[]> {
    const { page, pets, next } = await this.#pages.read(asked, key);
    this.#page = page;
    const isFiltered = Object.keys(readFields(this.#listForm, PET_FILTERS)).length > 0;
    const why = isFiltered ? 'No pet matches the filter.' : EMPTY;
    getElement('empty', HTMLElement).textContent = pets.length === 0 ? why : '';
    say('shown', `Page ${page}: ${pets.length} ${pets.length === 1 ? 'pet' : 'pets'}`);
    // Not `disabled`, which would take the focus from who pages by keyboard.
    getElement('previous', HTMLElement).ariaDisabled = String(page === 1);
    getElement('next', HTMLElement).ariaDisabled = String(next === undefined);
    return pets;
  }
}
