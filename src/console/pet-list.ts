/** The list of pets: the page that it shows, and the address of this page. */

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

  /** Shows the page of the address. Without a cursor it is the first page. */
  async showAddress(key = findKey()): Promise<void> {
    const address = new URLSearchParams(location.hash.slice(1));
    fillIn(this.#listForm, address);
    const asked = Number(address.get('page'));
    const cursor = address.get('cursor') ?? '';
    const page = cursor !== '' && Number.isSafeInteger(asked) && asked > 1 ? asked : 1;
    if (page > 1) this.#pages.keepCursor(page, cursor);
    await this.#show(page, key).catch((error) => {
      if (error.code !== 'bad_request') throw error;
      // A person may have changed the address.
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

  /** Reads the page again. The marked pet stays. */
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
        throw error.code === 'not_found' ? new Error(`id ${id} is not the id of a pet`) : error;
      });
    this.mark(found, `The pet with the id ${id}`);
  }

  mark(pet: Pet, words: string): void {
    this.#table.mark(pet, words);
  }

  /** Goes to the page of the marked pet. A filter could hide the pet, so the list has all pets. */
  async showMarked(): Promise<void> {
    const { marked } = this.#table;
    if (marked === undefined) return;
    const limit = readField(this.#listForm, 'limit');
    fillIn(this.#listForm, new URLSearchParams({ limit }));
    await this.#open(await this.#pages.findPage(marked.id));
    this.#table.showInPlace(marked.id);
  }

  /** Shows a page and sets its address. */
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
    // `disabled` would take the focus away from a person who uses the keyboard.
    getElement('previous', HTMLElement).ariaDisabled = String(page === 1);
    getElement('next', HTMLElement).ariaDisabled = String(next === undefined);
    return pets;
  }
}
