/** The list of pets: a page of it, or the pet that was looked up. */

import type { Pet } from '../client/petstore-client.ts';
import { findCanonicalInt64, INT64_MAX } from '../int64.ts';
import { NEW_PET_FIELDS, PET_FILTERS } from '../pet.ts';
import { createElement, getElement, readField, readFields, say } from './elements.ts';
import { createClient, findKey } from './session.ts';

export class PetList {
  readonly #listForm = getElement('list-form', HTMLFormElement);
  readonly #findForm = getElement('find-form', HTMLFormElement);
  readonly #previous = getElement('previous', HTMLElement);
  readonly #following = getElement('next', HTMLElement);
  /** The cursors of the pages up to the one that is shown; the first page has none. */
  #cursors: readonly (string | undefined)[] = [undefined];
  #next: string | undefined;
  #reading = new AbortController();

  showFirst(key?: string): Promise<void> {
    return this.#showPage([undefined], key);
  }

  async showPrevious(): Promise<void> {
    if (this.#cursors.length > 1) await this.#showPage(this.#cursors.slice(0, -1));
  }

  async showNext(): Promise<void> {
    if (this.#next !== undefined) await this.#showPage([...this.#cursors, this.#next]);
  }

  showAgain(): Promise<void> {
    return this.#showPage(this.#cursors);
  }

  async find(): Promise<void> {
    const id = findCanonicalInt64(readField(this.#findForm, 'id').trim());
    if (id === undefined) throw new Error(`id must be a whole number up to ${INT64_MAX}`);
    const signal = this.#startReading();
    const found = await createClient(findKey())
      .get(id, { signal })
      .catch((error) => {
        if (error.code !== 'not_found') throw error;
      });
    this.#cursors = [undefined];
    this.#next = undefined;
    this.#show(found ? [found] : [], found ? `The pet with the id ${id}` : '');
    if (!found) throw new Error(`There is no pet with the id ${id}.`);
  }

  /** Shows the page after the last of these cursors. */
  async #showPage(cursors: readonly (string | undefined)[], key = findKey()): Promise<void> {
    const signal = this.#startReading();
    const { pets, next } = await createClient(key).listPage({
      ...readFields(this.#listForm, PET_FILTERS),
      limit: Number(readField(this.#listForm, 'limit')),
      cursor: cursors.at(-1),
      signal,
    });
    this.#cursors = cursors;
    this.#next = next;
    const count = `${pets.length} ${pets.length === 1 ? 'pet' : 'pets'}`;
    this.#show(pets, `Page ${cursors.length}: ${count}`);
  }

  /** Gives up what is still being read, which would be shown after what is asked for now. */
  #startReading(): AbortSignal {
    this.#reading.abort();
    this.#reading = new AbortController();
    return this.#reading.signal;
  }

  #show(pets: readonly Pet[], words: string): void {
    getElement('pets', HTMLElement).replaceChildren(...pets.map(createRow));
    say('shown', words);
    // Not `disabled`, which would take the focus from who pages by keyboard.
    this.#previous.setAttribute('aria-disabled', String(this.#cursors.length === 1));
    this.#following.setAttribute('aria-disabled', String(this.#next === undefined));
  }
}

function createRow(pet: Pet): HTMLElement {
  const row = document.createElement('tr');
  row.append(createElement('th', String(pet.id)));
  for (const { name } of NEW_PET_FIELDS) row.append(createElement('td', String(pet[name] ?? '')));
  return row;
}
