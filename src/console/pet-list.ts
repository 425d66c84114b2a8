/** The list: the pets that were added meanwhile, the pets of the filters, and more of them at their end. */

import { NEW_PET_FIELDS, type Pet } from '../pet.ts';
import { PAGE_LIMIT_MAX } from '../pet-query.ts';
import { createClient } from './client.ts';
import { createElement, fillIn, getElement, readTexts, show, write } from './elements.ts';
import { FOR_SPREADSHEETS, keepCsv } from './pet-file.ts';
import { toPetAddress } from './session.ts';

const PAGE = 50;

export class PetList {
  readonly #form = getElement('list-form', HTMLFormElement);
  readonly #place = getElement('list', HTMLElement);
  readonly #rows = getElement('pets', HTMLElement);
  readonly pets = new Map<bigint, Pet>();
  /** Ends what reads the list before: its late answer would mix two lists. */
  #reading = new AbortController();
  #filters: URLSearchParams | undefined;
  /** The cursor of the next page; undefined at the end of the list, and while the next page is read. */
  #next: string | undefined;
  readonly #end: IntersectionObserver;

  constructor(showMore: () => void) {
    // A busy page gets several looks at once: the last one is how it is now.
    this.#end = new IntersectionObserver((looks) => looks.at(-1)?.isIntersecting && showMore());
  }

  /** Shows the pets of the filters of an address from the first one on, unless it shows them, and the key is the same. */
  async open(address: URLSearchParams, isNewKey: boolean): Promise<void> {
    fillIn(this.#form, address);
    const isShown = String(readTexts(this.#form)) === String(this.#filters);
    if (isNewKey || !isShown) await this.reload();
  }

  async reload(): Promise<void> {
    this.#reading.abort();
    this.#reading = new AbortController();
    this.#next = undefined;
    this.#filters = undefined;
    // Also after a failure: the rows are those of another filter.
    this.#place.ariaBusy = 'true';
    const filters = readTexts(this.#form);
    await this.#read(filters);
    this.#filters = filters;
    this.#place.ariaBusy = 'false';
    this.#place.scrollTop = 0;
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
    if (cursor === undefined) {
      this.#rows.replaceChildren();
      this.pets.clear();
    }
    this.#rows.append(...this.#createRows(pets));
    this.#tellShown();
    const { size } = this.pets;
    show('empty', size === 0 && filters.size === 0);
    show('empty-filter', size === 0 && filters.size > 0);
    show('more', next !== undefined);
    // An end that stays in view is seen only by a new look.
    this.#end.disconnect();
    this.#end.observe(getElement('next', HTMLElement));
  }

  #tellShown(): void {
    const { size } = this.pets;
    write('shown', `${size} ${size === 1 ? 'pet' : 'pets'}${this.#next ? ', and more' : ''}`);
  }

  addFirst(pet: Pet): void {
    const [row] = this.#createRows([pet]);
    row?.classList.add('new');
    this.#rows.prepend(row ?? '');
    show('empty', false);
    show('empty-filter', false);
    this.#place.scrollTop = 0;
  }

  /** The rows of the pets that are not shown: a pet that was added meanwhile is the first row already. */
  #createRows(pets: readonly Pet[]): readonly HTMLElement[] {
    const others = pets.filter(({ id }) => !this.pets.has(id));
    for (const pet of others) this.pets.set(pet.id, pet);
    show('table', this.pets.size > 0);
    return others.map(createRow);
  }

  /** Lets the browser keep all pets of the filters. Meanwhile its button does nothing. */
  async download(): Promise<void> {
    const button = getElement('download', HTMLButtonElement);
    const asked = { ...Object.fromEntries(readTexts(this.#form)), limit: PAGE_LIMIT_MAX };
    const pets = createClient('work').list(asked);
    const tell = (count: number) => write('shown', `${count} pets read`);
    button.disabled = true;
    try {
      await keepCsv('pets.csv', FOR_SPREADSHEETS, pets, tell);
    } catch (error) {
      // What was read is not kept.
      this.#tellShown();
      throw error;
    } finally {
      button.disabled = false;
    }
  }
}

function createRow(pet: Pet): HTMLElement {
  const link = document.createElement('a');
  link.href = toPetAddress(pet.id);
  link.textContent = String(pet.id);
  const id = createElement('th', '', 'int64');
  id.append(link);
  const row = createElement('tr', '');
  row.append(id);
  for (const { name, kind, schema } of NEW_PET_FIELDS) {
    const text = String(pet[name] ?? '');
    row.append(schema.enum ? createChoice(text) : createElement('td', text, kind));
  }
  row.addEventListener('click', ({ target }) => {
    // The click may end the selection of a text.
    if (target !== link && getSelection()?.isCollapsed) location.hash = link.hash;
  });
  return row;
}

/** The cell of a value that is chosen from a list. The style sheet has the colour of each value. */
function createChoice(value: string): HTMLElement {
  const label = createElement('span', value || 'none', value ? 'label' : 'none');
  label.dataset.value = value;
  const cell = createElement('td', '', 'choice');
  cell.append(label);
  return cell;
}
